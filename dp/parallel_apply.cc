// SPDX-License-Identifier: Apache-2.0
#include "dp/parallel_apply.h"

#include "common/base/error.h"

namespace tandem::dp {

ParallelApply::ParallelApply(const std::vector<Device*>& devices, Threads threads)
    : devices_(devices) {
  if (uses_threads() && threads == Threads::kKept) kept_ = std::make_unique<DeviceThreads>(devices);
}

void ParallelApply::run(const std::function<void(int)>& body) {
  const auto named = [&](int replica) {
    const auto error = capture_error([&] { body(replica); });
    if (!error) return;
    throw error->reworded(fmt::format("caught in replica {} on {}: {}", replica,
                                      to_string(devices_[static_cast<std::size_t>(replica)]->id()),
                                      error->what()));
  };
  if (!uses_threads()) return named(0);
  if (kept_) return kept_->run(named);
  run_on_new_threads(devices_, named);
}

}  // namespace tandem::dp
