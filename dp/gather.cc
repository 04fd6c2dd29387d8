// SPDX-License-Identifier: Apache-2.0
#include "dp/gather.h"

namespace tandem::dp {
namespace {

// The place of each output in the gathered tensor, in elements.
std::vector<Shard> slices_of(const std::vector<Shape>& outputs) {
  std::vector<Shard> slices;
  std::int64_t first = 0;
  for (const Shape& output : outputs) {
    slices.push_back({first, output.count()});
    first += output.count();
  }
  return slices;
}

Span<float> slice(Span<float> gathered, const Shard& of) {
  return gathered.subspan(of.first, of.count);
}

}  // namespace

Gather::Gather(OutputDevice& target, const std::vector<Replica*>& replicas,
               const std::vector<Shape>& outputs)
    : target_(target),
      replicas_(replicas),
      slices_(slices_of(outputs)),
      gathered_(target.device().allocate(bytes_of<float>(gathered_shape(outputs).count()))),
      gradient_(target.device().allocate(bytes_of<float>(gathered_shape(outputs).count()))),
      gradient_ready_(target.device().make_event()) {
  for (Replica* const replica : replicas) ready_.push_back(replica->device().make_event());
}

void Gather::offer(int replica) {
  const auto index = static_cast<std::size_t>(replica);
  replicas_.at(index)->stream().record(*ready_.at(index));
}

void Gather::enqueue(const std::vector<Span<float>>& from, Interpreter& caller) {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    target_.begin(Phase::kIdle);
    target_.stream().wait(*ready_[i]);
    target_.begin(Phase::kGather);
    dispatch(caller, target_.stream());
    target_.timer().copy(target_.stream(), slice(gathered(), slices_[i]), from[i]);
  }
}

void Gather::scatter_back(const std::vector<Span<float>>& to, Interpreter& caller) {
  dispatch(caller, target_.stream());
  target_.stream().record(*gradient_ready_);
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    Replica& replica = *replicas_[i];
    replica.stream().wait(*gradient_ready_);
    replica.timer().begin(replica.stream(), Phase::kScatterGrad);
    replica.timer().copy(replica.stream(), to[i], slice(gradient(), slices_[i]));
  }
}

std::string scalars_warning() {
  return "was asked to gather along dimension 0, but all outputs are scalars: the result is a "
         "vector with one element per replica";
}

Shape gathered_shape(const std::vector<Shape>& outputs) {
  TANDEM_CHECK(!outputs.empty(), "nothing to gather");
  std::vector<std::int64_t> dims = outputs.front().dims();
  if (dims.empty()) return {static_cast<std::int64_t>(outputs.size())};
  dims.front() = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::vector<std::int64_t> expected = outputs.front().dims();
    const std::vector<std::int64_t>& found = outputs[i].dims();
    if (!found.empty()) expected.front() = found.front();
    if (found != expected) {
      fail(ErrorKind::kFailure,
           "gathering outputs: that of replica {} is {} where {} was expected: all dimensions but "
           "the first have to agree",
           i, to_string(outputs[i]), to_string(Shape(expected)));
    }
    dims.front() += found.front();
  }
  return Shape(dims);
}

}  // namespace tandem::dp
