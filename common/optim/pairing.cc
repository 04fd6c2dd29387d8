// SPDX-License-Identifier: Apache-2.0
#include "common/optim/pairing.h"

namespace tandem {
namespace {

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

std::vector<Stretch> stretches_of(const std::vector<Span<float>>& weights,
                                  const std::vector<Span<const float>>& gradients,
                                  std::int64_t count) {
  check_pairs(weights, gradients, count);
  std::vector<Stretch> stretches;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i > 0 && follows(weights[i], stretches.back().weight) &&
        follows(gradients[i], stretches.back().gradient)) {
      stretches.back().weight = joined(stretches.back().weight, weights[i]);
      stretches.back().gradient = joined(stretches.back().gradient, gradients[i]);
    } else {
      stretches.push_back({weights[i], gradients[i], done});
    }
    done += weights[i].size();
  }
  return stretches;
}

std::unique_ptr<Buffer> allocate_state(Device& device, std::int64_t count) {
  TANDEM_CHECK(count > 0, "an optimizer for {} weights", count);
  return device.allocate(bytes_of<float>(count));
}

}  // namespace tandem
