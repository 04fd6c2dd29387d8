// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "common/parallel/replica.h"
#include "ddp/bucket_reducer.h"

namespace tandem::ddp {

// torch's Join: ranks that have run out of data go on taking part in the other ranks' collectives,
// without gradients of their own, until all ranks have run out; then the state of the last rank
// with data goes to all.
//
//   with data     count 1 | buffers | forward backward ... sync 1 | buckets
//   without       count 0 | buffers |                      sync 0 | zeros in every bucket
//
// "count" and "sync" are all-reduces of one number each: how many ranks have data, and whether
// they reduce gradients in this step (here always). As in torch, ranks with data wait for no answer
// unless the divisor depends on it.
class UnevenInputs {
 public:
  // Collective. All arguments outlive this object.
  UnevenInputs(Replica& replica, BucketReducer& reducer, Communicator& communicator, Join join);

  // To be called by a rank with data, before forward.
  void announce_data();

  // To be called by a rank with data, before the gradients are reduced.
  void announce_reduction();

  // The rank that sends the model's buffers in this step: the largest rank with data. Waits for the
  // stream.
  [[nodiscard]] int rank_of_buffers(bool has_data);

  // To be called by a rank without data; false where no rank has data.
  [[nodiscard]] bool others_have_data();

  // To be called next by a rank without data, in place of a step.
  void shadow_reduction();

  // To be called once no rank has data: the state of the rank that had data last goes to all ranks.
  void share_last_state();

 private:
  [[nodiscard]] float sum_over_ranks(float mine);
  void enqueue_sum(float mine);
  [[nodiscard]] int largest(int mine);

  Replica& replica_;
  BucketReducer& reducer_;
  Communicator& communicator_;
  const Join join_;
  const std::unique_ptr<Buffer> number_;   // one element
  const std::unique_ptr<Buffer> numbers_;  // one per rank
  bool had_data_last_ = true;              // this rank had data last, or before all ranks ran out
};

}  // namespace tandem::ddp
