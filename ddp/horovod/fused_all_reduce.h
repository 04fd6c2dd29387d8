// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/model/parameter_layout.h"
#include "common/trace/collective_timer.h"

namespace tandem::ddp::horovod {

// A tensor that all ranks agreed to reduce now.
struct Response {
  int tensor = 0;
  Bytes size;
};

// Tensors that are reduced as one, and the place of each tensor in the fusion buffer.
struct FusedGroup {
  struct Slot {
    int tensor = 0;
    Bytes offset;  // into the fusion buffer
    Bytes size;
  };

  std::vector<Slot> slots;
  Bytes extent;  // bytes in the fusion buffer, with the padding
  Bytes size;    // bytes of the tensors alone
};

// The bytes that a tensor takes in the fusion buffer: a multiple of 16.
[[nodiscard]] Bytes padded(Bytes size);

// Horovod's rule for tensors of one type: the first response takes along the responses behind it,
// as long as all of them, padded, stay within the threshold. A threshold of 0 fuses nothing; a
// tensor beyond the threshold goes alone.
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
// The collective divides, after the sum. Used by one thread at a time.
class FusedAllReduce {
 public:
  // `gradients` are by tensor; `buffer` is the fusion buffer's size, 0 where no group has several
  // tensors. All arguments outlive this object. Collective.
  FusedAllReduce(Device& device, Communicator& communicator, const TensorList& gradients,
                 Bytes buffer, const PhaseOptions& phases);

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

  Communicator& communicator_;
  const TensorList& gradients_;
  CollectiveTimer timer_;
  const std::unique_ptr<Buffer> buffer_;  // the fusion buffer, for all groups in turn
  const std::unique_ptr<Stream> stream_;  // last: ends its work before the buffer goes
};

}  // namespace tandem::ddp::horovod
