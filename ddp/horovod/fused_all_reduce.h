// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/trace/collective_timer.h"
#include "ddp/horovod/fusion_rule.h"

namespace tandem::ddp::horovod {

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
