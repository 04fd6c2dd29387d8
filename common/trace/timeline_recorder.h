// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "common/timeline/timeline.h"
#include "common/trace/step_observer.h"

namespace tandem {

class GpuActivity;

// Records when each device did what, at every beginning and end that observers see.
// Outlives the strategies.
class TimelineRecorder final : public DetailObserver {
 public:
  TimelineRecorder();
  ~TimelineRecorder() override;

  // Starts, or stops, the recording of the steps that are enqueued from here on. Call between
  // steps.
  void start();
  void stop() { is_on_ = false; }

  // Asks GPUs to report the work that they run from here to collect(), where possible: CUPTI is
  // attached.
  void watch_gpus();

  // Returns the tracks and buckets of all devices, on the host's clock, with the bound of the clock
  // error, and forgets the tracks and buckets. Synchronise all streams first; the streams must
  // still exist.
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

  [[nodiscard]] PerDevice& of(Device& device);

  std::unique_ptr<GpuActivity> gpus_;  // null where GPUs are not asked
  std::atomic<bool> is_on_{false};
  std::mutex mutex_;  // guards the map
  std::map<int, std::unique_ptr<PerDevice>> devices_;
};

}  // namespace tandem
