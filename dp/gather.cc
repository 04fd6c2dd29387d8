// SPDX-License-Identifier: Apache-2.0
#include "dp/gather.h"

namespace tandem::dp {
namespace {

// The place of each output in the gathered tensor, in elements.
std::vector<Shard> slices_of(const std::vector<std::int64_t>& counts) {
  std::vector<Shard> slices;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    slices.push_back({first, count});
    first += count;
  }
  return slices;
}

std::int64_t elements_of(const std::vector<Shard>& slices) {
  return slices.back().first + slices.back().count;
}

Span<std::byte> slice(AnySpan gathered, const Shard& of) {
  return gathered.subspan(of.first, of.count).bytes();
}

}  // namespace

Gather::Gather(OutputDevice& target, const std::vector<Replica*>& replicas,
               const std::vector<std::int64_t>& counts, DType type)
    : target_(target),
      replicas_(replicas),
      type_(type),
      slices_(slices_of(counts)),
      gathered_(target.device().allocate(Bytes{elements_of(slices_) * size_of(type)})),
      gradient_(target.device().allocate(Bytes{elements_of(slices_) * size_of(type)})),
      gradient_ready_(target.device().make_event()) {
  for (Replica* const replica : replicas) ready_.push_back(replica->device().make_event());
}

AnySpan Gather::whole(Buffer& room) const { return room.as(type_, elements_of(slices_)); }

void Gather::offer(int replica) {
  const auto index = static_cast<std::size_t>(replica);
  replicas_.at(index)->stream().record(*ready_.at(index));
}

void Gather::enqueue(const std::vector<AnySpan>& from, Interpreter& caller) {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    target_.begin(Phase::kIdle);
    target_.stream().wait(*ready_[i]);
    target_.begin(Phase::kGather);
    dispatch(caller, target_.stream(), DispatchKind::kGather);
    target_.timer().copy(target_.stream(), slice(gathered(), slices_[i]), from[i].bytes());
  }
}

void Gather::scatter_back(const std::vector<AnySpan>& to, Interpreter& caller) {
  dispatch(caller, target_.stream(), DispatchKind::kCall);  // the node is written in Python
  target_.stream().record(*gradient_ready_);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    Replica& replica = *replicas_[i];
    replica.stream().wait(*gradient_ready_);
    replica.timer().begin(replica.stream(), Phase::kScatterGrad);
    replica.timer().copy(replica.stream(), to[i].bytes(), slice(gradient(), slices_[i]));
  }
}

std::string scalars_warning() {
  return "was asked to gather along dimension 0, but all outputs are scalars: the result is a "
         "vector with one element per replica";
}

}  // namespace tandem::dp
