// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "common/timeline/timeline.h"
#include "common/trace/detail_observer.h"

namespace tandem {

class GpuActivity;

// Records when each device did what, at every beginning and end that observers are told of. Of a
// step that is the replay of a captured one, it is told only where that begins and ends. Outlives
// the strategies.
class TimelineRecorder final : public DetailObserver {
 public:
  TimelineRecorder();
  ~TimelineRecorder() override;

  // Steps that are enqueued from here on, or from here on no more, are recorded. Between steps.
  void start();
  void stop() { is_on_ = false; }

  // Has GPUs tell what they run, from here to collect(), where they can: CUPTI is attached.
  void watch_gpus();

  // Tracks and buckets of all devices, on the host's clock, and the bound of how far off it they
  // are. Forgets them. Synchronise all streams first, which still exist.
  [[nodiscard]] timeline::Process collect();

  void step_ends(Device& device, Stream& stream) override;
  void step_abandoned(Device& device, Stream& stream) override;

 private:
  class PerDevice;

  void part_begins(Device& device, Stream& stream, std::string_view phase) override;
  void work_begins(Device& device, Stream& stream, const EnqueuedWork& work) override;
  void work_ends(Device& device, Stream& stream, const EnqueuedWork& work) override;
  void bucket_ready(Device& device, Stream& stream, std::size_t index) override;
  void bucket_back(Device& device, Stream& stream, std::size_t index) override;
  void part_ready(Device& device, Stream& stream, int part) override;
  void bucket_filled(Device& device, std::size_t index, const std::vector<int>& parts) override;

  [[nodiscard]] PerDevice& of(Device& device);

  std::unique_ptr<GpuActivity> gpus_;  // null: nobody asked them
  std::atomic<bool> is_on_{false};
  std::mutex mutex_;  // of the map
  std::map<int, std::unique_ptr<PerDevice>> devices_;
};

}  // namespace tandem
