// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <vector>

#include "common/base/dtype.h"
#include "common/comm/communicator.h"
#include "common/kernels/operations.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp {

// torch's communication hook: replaces a plain all-reduce in making a bucket of one rank's
// gradients the average over ranks. The reducer copies gradients into buckets undivided.
class CommunicationHook : boost::noncopyable {
 public:
  virtual ~CommunicationHook() = default;

  // Prepares for the buckets of all steps from now on: communicator memory whose gaps between
  // gradients are zeros. Collective; no work may use earlier buckets any more.
  virtual void set_buckets(const std::vector<Span<float>>& buckets) = 0;

  // Enqueues on `comm`, behind bucket `index`'s gradients, the work that makes the gradients the
  // average. Buckets come in index order, each bucket once per step.
  virtual void reduce(Stream& comm, std::size_t index) = 0;
};

// torch's fp16 and bf16 compression: a bucket is cast, divided by the number of ranks as 16-bit
// numbers, summed as such, and cast back.
//
//   comm   | flat -> 16 bits, / ranks | all-reduce, sum | 16 bits -> flat |
//
// Gradients outside fp16's range become infinite or zero, as no step scales the gradients.
//
// Used by the rank's thread. The stream's owner ends the hook's work before the hook is destroyed.
class HalfCompression final : public CommunicationHook {
 public:
  // `type` is a type of 16 bits. Device and communicator outlive the hook.
  HalfCompression(DType type, Device& device, Communicator& communicator);

  void set_buckets(const std::vector<Span<float>>& buckets) override;
  void reduce(Stream& comm, std::size_t index) override;

 private:
  const DType type_;
  Communicator& communicator_;
  const std::unique_ptr<Operations> operations_;
  std::vector<Span<float>> buckets_;
  std::unique_ptr<Buffer> staging_;  // for the largest bucket: buckets come one after the other
};

// The hook that the options ask for; null for no compression. Device and communicator outlive the
// hook.
[[nodiscard]] std::unique_ptr<CommunicationHook> make_communication_hook(
    Compression compression, Device& device, Communicator& communicator);

}  // namespace tandem::ddp
