// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "common/trace/detail_observer.h"
#include "common/trace/nvtx.h"

namespace tandem {

// Steps as NVTX ranges: step > phase > layer; payload: the step's number on its device, from 1. A
// layer's range is one operation on its parameters, by their name without its last part ("0" of
// "0.weight"); an operation on none has its own name. Copies have none: tools see them themselves.
// Beside them "bucket 3" (payload: the step) is a range that starts where the bucket's last
// gradient is there and ends elsewhere, with its collective, which is "collective" (payload: the
// bucket).
//
// On the host ranges are pushed where the work runs, by tasks on the streams' workers: they last
// as long as the work. On a GPU they are pushed where it is enqueued, as tools expect, which then
// show what was launched within a range as the range's time on the GPU; their CPU times are those
// of launching. A bucket's range ends there once its collective is enqueued. Where several threads
// enqueue a GPU's step in turn, none can end what another pushed: steps and phases are then
// start/end ranges as well. Of steps that are replays of a captured one, "replay" is the phase.
class NvtxObserver final : public DetailObserver {
 public:
  enum class Enqueuers { kOneThread, kSeveral };  // of a device's step

  // `domain` outlives this, and this the strategies.
  NvtxObserver(const nvtx::Domain& domain, Enqueuers enqueuers);
  ~NvtxObserver() override;

  void step_ends(Device& device, Stream& stream) override;
  void step_abandoned(Device& device, Stream& stream) override;

 private:
  void part_begins(Device& device, Stream& stream, std::string_view phase) override;
  void work_begins(Device& device, Stream& stream, const EnqueuedWork& work) override;
  void work_ends(Device& device, Stream& stream, const EnqueuedWork& work) override;
  void bucket_ready(Device& device, Stream& stream, std::size_t index) override;

  class PerDevice;
  [[nodiscard]] PerDevice& of(const Device& device);

  const nvtx::Domain& domain_;
  const Enqueuers enqueuers_;
  std::mutex mutex_;  // of the map
  std::map<int, std::unique_ptr<PerDevice>> devices_;
};

}  // namespace tandem
