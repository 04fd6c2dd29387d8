// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "common/trace/nvtx.h"
#include "common/trace/step_observer.h"

namespace tandem {

// Steps as NVTX ranges: step > phase > layer; the payload is the step's number on its device, from
// 1. A layer's range is one operation on the layer's parameters, named by the parameters' name
// without its last part ("0" of "0.weight"); an operation on no parameters has its own name. Copies
// have no range, since tools see copies themselves. Beside these ranges "bucket 3" (payload: the
// step) starts where the bucket's last gradient is there and ends elsewhere, with the bucket's
// collective, whose range is "collective" (payload: the bucket).
//
// On the host ranges are pushed where the work runs, by tasks on the streams' workers, so that a
// range lasts as long as the work. On a GPU ranges are pushed where the work is enqueued, as tools
// expect; tools then show the work launched within a range as the range's time on the GPU, and the
// CPU times are times of launching. There a bucket's range ends once the bucket's collective is
// enqueued. Where several threads enqueue a GPU's step in turn, no thread can end a range that
// another thread pushed, so steps and phases are start/end ranges as well.
class NvtxObserver final : public DetailObserver {
 public:
  enum class Enqueuers { kOneThread, kSeveral };  // threads that enqueue a device's step

  // `domain` must outlive this object, and this object the strategies.
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
  std::mutex mutex_;  // guards the map
  std::map<int, std::unique_ptr<PerDevice>> devices_;
};

}  // namespace tandem
