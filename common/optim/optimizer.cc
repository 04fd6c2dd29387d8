// SPDX-License-Identifier: Apache-2.0
#include "common/optim/optimizer.h"

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

// State of one zero element per weight.
std::unique_ptr<Buffer> allocate_state(Device& device, std::int64_t count) {
  TANDEM_CHECK(count > 0, "an optimizer for {} weights", count);
  return device.allocate(bytes_of<float>(count));
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
    check_pairs(weights, gradients, velocity_.size());
    SgdUpdate update{.learning_rate = options_.learning_rate, .momentum = options_.momentum};
    std::int64_t done = 0;
    for (std::size_t i = 0; i < weights.size(); done += weights[i++].size()) {
      update.tensors.push_back(
          {gradients[i], velocity_.subspan(done, weights[i].size()), weights[i]});
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
    check_pairs(weights, gradients, count_);
    AdamUpdate update{.clock = clock_->as<float>(), .rates = rates_};
    std::int64_t done = 0;
    for (std::size_t i = 0; i < weights.size(); done += weights[i++].size()) {
      const std::int64_t size = weights[i].size();
      update.tensors.push_back({gradients[i], first_moment_->as<float>().subspan(done, size),
                                second_moment_->as<float>().subspan(done, size), weights[i]});
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
