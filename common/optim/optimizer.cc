// SPDX-License-Identifier: Apache-2.0
#include "common/optim/optimizer.h"

namespace tandem {
namespace {

// Weights and their gradients in one piece of memory each, which one operation updates.
struct Stretch {
  Span<float> weight;
  Span<const float> gradient;
  std::int64_t offset = 0;  // the piece's place among all weights, in list order
};

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

// State of one zero element per weight.
std::unique_ptr<Buffer> allocate_state(Device& device, std::int64_t count) {
  TANDEM_CHECK(count > 0, "an optimizer for {} weights", count);
  return device.allocate(bytes_of<float>(count));
}

// Joins the two lists, segment by segment, where neighbours are adjacent in both.
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

// Owns the velocity, one element per weight.
class SgdMomentum final : public Optimizer {
 public:
  SgdMomentum(Device& device, std::int64_t count, SgdOptions options)
      : options_(options),
        buffer_(allocate_state(device, count)),
        velocity_(buffer_->as<float>(count)) {}

  void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
            const std::vector<Span<const float>>& gradients) override {
    SgdUpdate update{.learning_rate = options_.learning_rate, .momentum = options_.momentum};
    for (const Stretch& stretch : stretches_of(weights, gradients, velocity_.size())) {
      update.tensors.push_back(
          {.gradient = stretch.gradient,
           .velocity = velocity_.subspan(stretch.offset, stretch.weight.size()),
           .weight = stretch.weight});
    }
    operations.enqueue(stream, update);
  }

 private:
  const SgdOptions options_;
  const std::unique_ptr<Buffer> buffer_;
  const Span<float> velocity_;
};

// Owns the moments, two elements per weight, and the clock.
class Adam final : public Optimizer {
 public:
  Adam(Device& device, std::int64_t count, AdamOptions options)
      : rates_{.learning_rate = options.learning_rate,
               .beta1 = options.beta1,
               .beta2 = options.beta2,
               .epsilon = options.epsilon,
               .decay = options.weight_decay},
        count_(count),
        first_moment_(allocate_state(device, count)),
        second_moment_(allocate_state(device, count)),
        clock_(allocate_state(device, AdamClock::kFloats)) {}

  void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
            const std::vector<Span<const float>>& gradients) override {
    AdamUpdate update{.clock = clock_->as<float>(), .rates = rates_};
    for (const Stretch& stretch : stretches_of(weights, gradients, count_)) {
      const std::int64_t size = stretch.weight.size();
      update.tensors.push_back({.gradient = stretch.gradient,
                                .first = first_moment_->as<float>().subspan(stretch.offset, size),
                                .second = second_moment_->as<float>().subspan(stretch.offset, size),
                                .weight = stretch.weight});
    }
    operations.enqueue(stream, update);
  }

 private:
  const AdamRates rates_;
  const std::int64_t count_;
  const std::unique_ptr<Buffer> first_moment_;
  const std::unique_ptr<Buffer> second_moment_;
  const std::unique_ptr<Buffer> clock_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(Device& device, std::int64_t count,
                                          const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<SgdMomentum>(device, count, options.sgd);
    case OptimizerKind::kAdam:
      return std::make_unique<Adam>(device, count, options.adam);
    case OptimizerKind::kAdamW:
      return std::make_unique<Adam>(device, count, options.adamw);
  }
  fail(ErrorKind::kLogic, "no such optimizer");
}

}  // namespace tandem
