// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_event.h"

#include "common/base/error.h"

namespace tandem::host {

bool HostEvent::is_done() const {
  return !latest_ || (latest_->is_done() && latest_->end <= Clock::now());
}

Nanoseconds HostEvent::since(const TimedEvent& start) const {
  const auto& first = static_cast<const HostEvent&>(start);
  TANDEM_CHECK(first.device_ == device_, "time asked between events of {} and {}",
               to_string(first.device_), to_string(device_));
  TANDEM_CHECK(first.latest_ && first.latest_->is_done() && latest_ && latest_->is_done(),
               "time asked between events that are not both recorded and done");
  return latest_->end - first.latest_->end;
}

std::optional<Nanoseconds> HostEvent::on_clock() const {
  TANDEM_CHECK(latest_ && latest_->is_done(), "the time of an event that is not recorded and done");
  return latest_->end.time_since_epoch();
}

}  // namespace tandem::host
