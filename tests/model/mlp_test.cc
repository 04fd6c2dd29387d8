// SPDX-License-Identifier: Apache-2.0
#include "common/model/linear_stack.h"
#include "tests/model/model_run.h"

namespace tandem::test {
namespace {

using Widths = std::vector<std::int64_t>;

std::vector<PlainLayer> plain_layers(const Widths& widths) {
  std::vector<PlainLayer> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    layers.push_back({.in = widths[i], .out = widths[i + 1], .relu = i + 2 < widths.size()});
  }
  return layers;
}

const Widths kTiny{3, 5, 4, 2};
constexpr std::int64_t kBatch = 6;

TEST(MlpTest, Forward_EqualsPlainLoops) {
  for (const Widths& widths : {kTiny, Widths{7, 3}, Widths{33, 17, 65}}) {
    expect_forward_is_plain(Mlp("under test", widths), plain_layers(widths), kBatch);
  }
}

TEST(MlpTest, Backward_EqualsFiniteDifferencesOfPlainLoops) {
  expect_backward_is_finite_difference(Mlp("under test", kTiny), plain_layers(kTiny), kBatch);
}

TEST(MlpTest, Gradients_AreReadyBiasThenWeight_FromLastLayerToFirst) {
  const Mlp model("under test", kTiny);
  ModelRun run(model, 1);
  EXPECT_EQ(run.sink.order, (std::vector<int>{5, 4, 3, 2, 1, 0}));
}

TEST(MlpTest, Modules_AreTheSequentialItsLinearsAndItsRelus) {
  EXPECT_EQ(Mlp("m", {3, 5, 4, 2}).module_count(), 1 + 3 + 2);
  EXPECT_EQ(Mlp("m", {3, 2}).module_count(), 1 + 1);
}

TEST(MlpTest, Layout_IsWeightThenBiasPerLayer) {
  const Mlp model("m", {3, 5, 2});
  std::vector<std::string> names;
  for (const auto& segment : model.layout().segments()) names.push_back(segment.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layer0.weight", "layer0.bias", "layer1.weight",
                                             "layer1.bias"}));
  EXPECT_EQ(model.layout().segments()[0].shape, (Shape{5, 3}));
  EXPECT_EQ(model.layout().segments()[1].shape, (Shape{5}));
}

std::vector<float> initial_weights(Device& device, const Model& model, std::uint64_t seed) {
  Replica replica(device, model, 1, TrainingOptions{.phases = {PhaseTiming::kOff}});
  replica.initialise(seed, Distribution::kUniform);
  replica.stream().synchronize();
  return read_back<float>(device, replica.parameters().flat);
}

TEST(MlpTest, Initialise_IsTheSameOnAnyDevice_AndFollowsTheSeed) {
  const auto platform = host_devices(2);
  const Mlp model("m", {40, 60, 20});
  const auto weights = initial_weights(platform->device(0), model, 3);
  EXPECT_EQ(initial_weights(platform->device(1), model, 3), weights);
  EXPECT_NE(initial_weights(platform->device(0), model, 4), weights);
}

// torch's Linear: weights and biases uniform in +-1/sqrt(fan in).
TEST(MlpTest, Initialise_FillsTorchsBound) {
  const auto platform = host_devices(1);
  const Mlp model("m", {100, 400, 400});
  const auto weights = initial_weights(platform->device(0), model, 3);
  for (const auto& segment : model.layout().segments()) {
    const double bound = segment.name.starts_with("layer0") ? 0.1 : 0.05;
    double largest = 0;
    double sum = 0;
    for (std::int64_t i = 0; i < segment.count; ++i) {
      const double value = weights[static_cast<std::size_t>(segment.offset + i)];
      largest = std::max(largest, std::abs(value));
      sum += value;
    }
    EXPECT_LE(largest, bound * (1 + 1e-6)) << segment.name;
    EXPECT_GT(largest, bound * 0.95) << segment.name;
    EXPECT_LT(std::abs(sum) / static_cast<double>(segment.count), 0.15 * bound) << segment.name;
  }
}

TEST(MlpTest, Initialise_LeavesTheGapsZero) {
  const auto platform = host_devices(1);
  const Mlp model("m", {3, 5, 2});
  const auto weights = initial_weights(platform->device(0), model, 3);
  for (const auto& segment : model.layout().segments()) {
    for (std::int64_t i = segment.count; i < aligned_count(segment.count); ++i) {
      EXPECT_EQ(weights[static_cast<std::size_t>(segment.offset + i)], 0.0F);
    }
  }
}

}  // namespace
}  // namespace tandem::test
