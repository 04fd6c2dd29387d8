// SPDX-License-Identifier: Apache-2.0
//
// The modelled link of a host platform, as devices and streams use the link, and the account of
// where the machine could not keep up with the model. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/runtime/host/link_ports.h"
#include "common/runtime/link_model.h"
#include "common/runtime/platform.h"

namespace tandem::host {

// The modelled time at which a stream's work is over, and the sum of the machine's delays on the
// way.
struct ModelledTime {
  TimePoint at{};
  Nanoseconds lateness{0};
  std::uint32_t step = 0;  // step of the lateness, which is 0 in any other step

  // Where two times must both be over, the later time decides, with its lateness.
  void merge(const ModelledTime& other) {
    if (other.at > at) *this = other;
  }
};

class HostLink {
 public:
  HostLink(const LinkModel& model, std::shared_ptr<LinkPorts> ports)
      : model_(model), ports_(std::move(ports)) {}

  [[nodiscard]] const LinkModel& model() const { return model_; }
  [[nodiscard]] LinkPorts& ports() const { return *ports_; }

  // The time at which work is ready that was enqueued at `enqueued` behind work that ended at
  // `work`. Where the enqueuing came later than that end, the host decides, with the lateness that
  // the host has seen.
  [[nodiscard]] ModelledTime ready(const ModelledTime& work, TimePoint enqueued) const;

  // Notes that the host has waited for work that was over at `end`, so that work enqueued next is
  // as late. All threads share one account, so with several threads the lateness is an upper bound.
  void seen_by_host(const ModelledTime& end);

  // The end of a transfer that was physically over just now: never before the modelled end, and a
  // physical end after the modelled end is lateness.
  [[nodiscard]] ModelledTime settle(const ModelledTime& modelled);

  // Notes that a sleep to `due` is over now.
  void note_overshoot(TimePoint due);

  // The lateness since the last call; starts a new step.
  [[nodiscard]] Lateness take_lateness();

 private:
  [[nodiscard]] Nanoseconds lateness_of(const ModelledTime& time) const;

  const LinkModel model_;
  const std::shared_ptr<LinkPorts> ports_;  // this rank's own, or shared with the node's ranks
  std::atomic<std::uint32_t> step_{0};
  std::atomic<Nanoseconds::rep> largest_lateness_{0};
  std::atomic<Nanoseconds::rep> host_lateness_{0};
  std::atomic<Nanoseconds::rep> largest_overshoot_{0};
};

}  // namespace tandem::host
