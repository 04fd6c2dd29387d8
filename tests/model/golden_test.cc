// SPDX-License-Identifier: Apache-2.0
//
// Models against what PyTorch made of the same weights and the same batch: tests/golden.
#include <set>

#include "tests/model/golden_run.h"

namespace tandem::test {
namespace {

std::set<std::string> as_set(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

class GoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Names of the file's tensors that begin so, without that.
  [[nodiscard]] std::set<std::string> under(const std::string& prefix) const {
    std::set<std::string> names;
    for (const auto& [name, tensor] : golden_.tensors) {
      if (name.starts_with(prefix)) names.insert(name.substr(prefix.size()));
    }
    return names;
  }

  const Golden golden_ = read_golden(GetParam());
  const std::unique_ptr<Platform> platform_ = host_devices(1);
  GoldenRun run_{platform_->device(0), golden_};
};

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest,
                         ::testing::Values("mlp-3x16", "gpt2-nano-24", "resnet-tiny"),
                         test_name_of_golden);

TEST_P(GoldenTest, Parameters_AreTorchs) { EXPECT_EQ(as_set(run_.names()), under("weight/")); }

TEST_P(GoldenTest, ParametersAndBuffersAfterSteps_AreTorchs) {
  std::set<std::string> ours = as_set(run_.names());
  ours.merge(as_set(run_.buffer_names()));
  for (const auto& [optimizer, kind] : kGoldenOptimizers) EXPECT_EQ(ours, under(optimizer + "/"));
}

TEST_P(GoldenTest, OutputLossAndGradients_AreTorchs) { expect_golden_gradients(run_, golden_); }

TEST_P(GoldenTest, WeightsAndBuffersAfterSteps_AreTorchs_OfEachOptimizer) {
  for (const auto& [name, kind] : kGoldenOptimizers) {
    GoldenRun run(platform_->device(0), golden_);
    expect_golden_steps(run, golden_, name, {.kind = kind});
  }
}

TEST_P(GoldenTest, OptimizersOptions_AreTheDefaults) {
  const OptimizerOptions ours;
  const auto options_of = [](const AdamOptions& adam) {
    return std::map<std::string, double>{{"lr", adam.learning_rate},
                                         {"beta1", adam.beta1},
                                         {"beta2", adam.beta2},
                                         {"eps", adam.epsilon}};
  };
  auto adamw = options_of(ours.adamw);
  adamw["weight_decay"] = ours.adamw.weight_decay;
  EXPECT_EQ(golden_.optimizers.at("adam"), options_of(ours.adam));
  EXPECT_EQ(golden_.optimizers.at("adamw"), adamw);
  EXPECT_FLOAT_EQ(static_cast<float>(golden_.optimizers.at("sgd").at("lr")),
                  ours.sgd.learning_rate);
  EXPECT_FLOAT_EQ(static_cast<float>(golden_.optimizers.at("sgd").at("momentum")),
                  ours.sgd.momentum);
}

// A step too many, another gradient, other weights: the comparison must see it.
TEST_P(GoldenTest, WhatIsNotTorchs_IsSeen) {
  run_.steps({.kind = OptimizerKind::kSgd});
  for (std::size_t i = 0; i < run_.names().size(); ++i) {
    const std::string& name = run_.names()[i];
    EXPECT_GT(golden_.tensor("weight/" + name).distance(run_.weight(i)), 1e-5) << name;
  }
}

TEST(GoldenTensorTest, Distance_IsOfAllThatIsKept) {
  const GoldenTensor each{.shape = {2, 2}, .extent = 4, .kept = {0, 3, 4, 0}};
  EXPECT_EQ(each.distance({0, 3, 4, 0}), 0);
  EXPECT_DOUBLE_EQ(each.distance({1, 3, 4, 0}), 0.2);
  EXPECT_EQ(each.distance({NAN, 3, 4, 0}), HUGE_VAL);

  const GoldenTensor second{.shape = {6}, .extent = 4, .stride = 2, .kept = {3, 4}};
  EXPECT_EQ(second.distance({3, 9, 4, 9, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(second.distance({3, 9, 4, 9, 0, 1}), 0.2);

  const GoldenTensor but_first{
      .shape = {3}, .extent = 3, .kept = {9, 3, 4}, .left_out_first = 0, .left_out_count = 1};
  EXPECT_EQ(but_first.distance({0, 3, 4}), 0);
  EXPECT_DOUBLE_EQ(but_first.distance({0, 3, 5}), 0.2);
}

TEST(GoldenTensorTest, AllElements_AreThoseKeptThenZeros) {
  const GoldenTensor tensor{.shape = {4}, .extent = 2, .kept = {1, 2}};
  EXPECT_EQ(tensor.all(), (std::vector<float>{1, 2, 0, 0}));
  const GoldenTensor second{.shape = {4}, .extent = 4, .stride = 2, .kept = {1, 2}};
  EXPECT_THROW((void)second.all(), Error);
}

}  // namespace
}  // namespace tandem::test
