// SPDX-License-Identifier: Apache-2.0
#include "common/optim/sgd.h"

namespace tandem {
namespace {

std::unique_ptr<Buffer> allocate_velocity(Device& device, std::int64_t count) {
  TANDEM_CHECK(count > 0, "velocity for {} weights", count);
  return device.allocate(Bytes{count * static_cast<std::int64_t>(sizeof(float))});
}

// All is checked before anything is enqueued: a step is taken whole or not at all.
void check_pairs(const std::vector<Span<float>>& weights,
                 const std::vector<Span<const float>>& gradients, std::int64_t count) {
  TANDEM_CHECK(weights.size() == gradients.size(), "{} segments of weights, {} of gradients",
               weights.size(), gradients.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    TANDEM_CHECK(weights[i].size() == gradients[i].size(), "segment {}: {} weights, {} gradients",
                 i, weights[i].size(), gradients[i].size());
    sum += weights[i].size();
  }
  TANDEM_CHECK(sum == count, "{} weights where {} were announced", sum, count);
}

template <class T>
bool follows(Span<T> next, Span<T> before) {
  return next.data() == before.end() && next.device() == before.device();
}

template <class T>
Span<T> joined(Span<T> before, Span<T> next) {
  return {before.data(), before.size() + next.size(), before.device()};
}

}  // namespace

SgdMomentum::SgdMomentum(Device& device, std::int64_t count, SgdOptions options)
    : options_(options),
      buffer_(allocate_velocity(device, count)),
      velocity_(buffer_->as<float>(count)) {}

void SgdMomentum::step(Operations& operations, Stream& stream,
                       const std::vector<Span<float>>& weights,
                       const std::vector<Span<const float>>& gradients) {
  check_pairs(weights, gradients, velocity_.size());
  std::int64_t done = 0;
  for (std::size_t i = 0; i < weights.size();) {
    Span<float> weight = weights[i];
    Span<const float> gradient = gradients[i];
    for (++i; i < weights.size(); ++i) {
      if (!follows(weights[i], weight) || !follows(gradients[i], gradient)) break;
      weight = joined(weight, weights[i]);
      gradient = joined(gradient, gradients[i]);
    }
    operations.enqueue(stream, SgdUpdate{.gradient = gradient,
                                         .velocity = velocity_.subspan(done, weight.size()),
                                         .weight = weight,
                                         .learning_rate = options_.learning_rate,
                                         .momentum = options_.momentum});
    done += weight.size();
  }
}

void SgdMomentum::step(Operations& operations, Stream& stream, Span<float> weights,
                       Span<const float> gradients) {
  TANDEM_CHECK(weights.size() == velocity_.size(), "{} weights where {} were announced",
               weights.size(), velocity_.size());
  operations.enqueue(stream, SgdUpdate{.gradient = gradients,
                                       .velocity = velocity_,
                                       .weight = weights,
                                       .learning_rate = options_.learning_rate,
                                       .momentum = options_.momentum});
}

}  // namespace tandem
