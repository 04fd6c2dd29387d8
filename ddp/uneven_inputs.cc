// SPDX-License-Identifier: Apache-2.0
#include "ddp/uneven_inputs.h"

#include <algorithm>

#include "common/runtime/copy.h"
#include "ddp/state_sync.h"

namespace tandem::ddp {

UnevenInputs::UnevenInputs(Replica& replica, BucketReducer& reducer, Communicator& communicator,
                           Join join)
    : replica_(replica),
      reducer_(reducer),
      communicator_(communicator),
      join_(join),
      number_(communicator.allocate(bytes_of<float>(1))),
      numbers_(communicator.allocate(bytes_of<float>(communicator.size()))) {}

void UnevenInputs::enqueue_sum(float mine) {
  const Span<float> number = number_->as<float>(1);
  enqueue_zero(replica_.stream(), number);
  replica_.operations().enqueue(replica_.stream(), AddScalar{.values = number, .constant = mine});
  replica_.timer().collective(replica_.stream(), "all_reduce", number.size_bytes(), [&] {
    communicator_.all_reduce(replica_.stream(), number, ReduceOp::kSum);
  });
}

float UnevenInputs::sum_over_ranks(float mine) {
  enqueue_sum(mine);
  replica_.stream().synchronize();
  return read_back<float>(replica_.device(), number_->as<float>(1)).front();
}

void UnevenInputs::announce_data() {
  replica_.timer().begin(replica_.stream(), Phase::kExposedComm);
  had_data_last_ = true;
  if (join_ == Join::kWorld) return enqueue_sum(1);
  reducer_.set_divisor(static_cast<int>(sum_over_ranks(1)));
}

void UnevenInputs::announce_reduction() { enqueue_sum(1); }

bool UnevenInputs::others_have_data() {
  const int active = static_cast<int>(sum_over_ranks(0));
  if (active == 0) return false;
  had_data_last_ = false;
  if (join_ == Join::kActive) reducer_.set_divisor(active);
  return true;
}

void UnevenInputs::shadow_reduction() {
  if (sum_over_ranks(0) > 0) reducer_.contribute_nothing();
}

int UnevenInputs::largest(int mine) {
  const Span<float> all = numbers_->as<float>(communicator_.size());
  const Span<float> place = all.subspan(communicator_.rank(), 1);
  enqueue_zero(replica_.stream(), place);
  replica_.operations().enqueue(replica_.stream(),
                                AddScalar{.values = place, .constant = static_cast<float>(mine)});
  replica_.timer().collective(replica_.stream(), "all_gather", all.size_bytes(),
                              [&] { communicator_.all_gather(replica_.stream(), place, all); });
  replica_.stream().synchronize();
  const std::vector<float> values = read_back<float>(replica_.device(), all);
  return static_cast<int>(*std::max_element(values.begin(), values.end()));
}

int UnevenInputs::rank_of_buffers(bool has_data) {
  return largest(has_data ? communicator_.rank() : -1);
}

void UnevenInputs::share_last_state() {
  const int root = largest(had_data_last_ ? communicator_.rank() : -1);
  const Bytes size = replica_.parameters().flat.size_bytes() + replica_.buffers().flat.size_bytes();
  replica_.timer().collective(replica_.stream(), "broadcast", size,
                              [&] { broadcast_state(communicator_, replica_, root); });
}

}  // namespace tandem::ddp
