// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/base/dtype.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/trace/collective_timer.h"

namespace tandem::ddp::horovod {

// A tensor that all ranks agreed to reduce now.
struct Response {
  int tensor = 0;
  Bytes size;
  DType type = DType::kFloat32;  // tensors of different types are not fused
};

// Tensors that are reduced as one, and the place of each tensor in the fusion buffer.
struct FusedGroup {
  struct Slot {
    int tensor = 0;
    Bytes offset;  // into the fusion buffer
    Bytes size;
  };

  std::vector<Slot> slots;
  DType type = DType::kFloat32;
  Bytes extent;  // bytes in the fusion buffer, with the padding
  Bytes size;    // bytes of the tensors alone
};

// The bytes that a tensor takes in the fusion buffer: a multiple of 16.
[[nodiscard]] Bytes padded(Bytes size);

// Horovod's rule: the first response takes along later responses of the same type, as long as all
// of them, padded, stay within the threshold. A response that does not fit is skipped, and later
// responses are tried as long as fused and skipped responses together stay within the threshold;
// skipped responses keep their order and come first in the next group. A threshold of 0 fuses
// nothing; a tensor beyond the threshold goes alone.
[[nodiscard]] std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold);

// The size of a buffer that any group of two or more fits in: the threshold, or all tensors where
// these are less, in whole lines of 64 floats. 0 where no tensors are ever fused.
[[nodiscard]] Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold);

using EventList = std::vector<std::unique_ptr<Event>>;

// Averages groups of gradients over ranks on a stream of its own, one collective per group. A group
// of several tensors goes through the fusion buffer; a single tensor is averaged where the tensor
// lies.
//
//   wait until all are ready | copy in | all-reduce | copy out
//
// The collective divides, after the sum. With a predivide factor f, gradients are multiplied by 1/f
// on the way in and by f/ranks on the way out. Used by one thread at a time.
class FusedAllReduce {
 public:
  struct Options {
    Bytes buffer;  // 0: no group has several tensors
    double predivide_factor = 1;
    PhaseOptions phases{};
  };

  // `gradients` are by tensor; all arguments outlive this object. Collective.
  FusedAllReduce(Device& device, Communicator& communicator, const TensorList& gradients,
                 const Options& options);

  // Enqueues the step's group `index`, whose tensors are ready with the events `ready`, by tensor.
  void enqueue(const FusedGroup& group, const EventList& ready, std::size_t index);

  // The times of the groups since the last call, by index in their steps; synchronise the stream
  // first.
  [[nodiscard]] std::vector<CollectiveTimes> collect_times() { return timer_.collect(); }

  // The rank's thread tells of gradients that are ready, and of averages that are back.
  [[nodiscard]] CollectiveTimer& timer() { return timer_; }

  [[nodiscard]] Stream& stream() { return *stream_; }

 private:
  [[nodiscard]] Span<float> gradient(const FusedGroup::Slot& slot) const;
  [[nodiscard]] Span<float> place(const FusedGroup::Slot& slot) const;
  void tell_of(const FusedGroup& group, std::size_t index);
  void move(Span<float> from, Span<float> to, float factor);

  Communicator& communicator_;
  const TensorList& gradients_;
  const std::unique_ptr<Operations> operations_;
  float factor_in_ = 1;
  float factor_out_ = 1;
  ReduceOp op_ = ReduceOp::kAverage;
  CollectiveTimer timer_;
  std::unique_ptr<Buffer> buffer_;        // the fusion buffer, for all groups in turn
  const std::unique_ptr<Stream> stream_;  // last: ends its work before the buffer goes
};

}  // namespace tandem::ddp::horovod
