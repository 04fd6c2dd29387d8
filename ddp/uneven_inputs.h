// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "common/parallel/replica.h"
#include "ddp/bucket_reducer.h"

namespace tandem::ddp {

// torch's Join: ranks that have run out of data go on taking part in the others' collectives, with
// nothing of their own, until all have run out; then the last one's state goes to all.
//
//   with data     count 1 | buffers | forward backward ... sync 1 | buckets
//   without       count 0 | buffers |                      sync 0 | zeros in every bucket
//
// "count" and "sync" are all-reduces of one number each: how many ranks have data, and whether
// they reduce gradients in this step (here always). As in torch, ranks with data wait for no answer
// unless the divisor depends on it.
class UnevenInputs {
 public:
  // Collective. All outlive this.
  UnevenInputs(Replica& replica, BucketReducer& reducer, Communicator& communicator, Join join);

  // A rank with data: before forward.
  void announce_data();

  // And before the gradients are reduced.
  void announce_reduction();

  // Who sends the model's buffers in this step: the largest rank with data. Waits for the stream.
  [[nodiscard]] int rank_of_buffers(bool has_data);

  // A rank without data: false where no rank has any.
  [[nodiscard]] bool others_have_data();

  // Then, in place of a step.
  void shadow_reduction();

  // Once nobody has data: the state of the rank that had some last goes to all.
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
  bool had_data_last_ = true;              // or before the others had none either
};

}  // namespace tandem::ddp
