// SPDX-License-Identifier: Apache-2.0
//
// The small models and all optimizers, in dp and ddp.
#include "tests/support/training.h"

#include <gtest/gtest.h>

#include "common/model/zoo.h"

namespace tandem::test {
namespace {

struct Case {
  const char* model;
  OptimizerKind optimizer;
};

void PrintTo(const Case& c, std::ostream* out) {
  const char* const names[] = {" sgd", " adam", " adamw"};
  *out << c.model << names[static_cast<int>(c.optimizer)];
}

class SmallModelTraining : public testing::TestWithParam<Case> {
 public:
  static Outcome trained(const std::string& strategy, int devices, int steps) {
    const TrainingOptions training{.global_batch = 8, .optimizer = {.kind = GetParam().optimizer}};
    return train(*make_model(GetParam().model),
                 {.strategy = strategy, .devices = devices, .steps = steps, .training = training});
  }

  // The tolerance after three steps. Adam's step is as long for a gradient that is rounding alone.
  static double tolerance() { return GetParam().optimizer == OptimizerKind::kSgd ? 1e-5 : 1e-3; }
};

TEST_P(SmallModelTraining, MovesEveryParameter) {
  const Outcome before = trained("single", 1, 1);
  const Outcome after = trained("single", 1, 3);
  for (std::size_t i = 0; i < before.weights.size(); ++i) {
    EXPECT_NE(before.weights[i], after.weights[i]) << i;
  }
}

TEST_P(SmallModelTraining, OnTwoDevices_ComesToWhatSingleComesTo) {
  const Outcome single = trained("single", 1, 3);
  for (const char* strategy : {"dp", "ddp"}) {
    const Outcome other = trained(strategy, 2, 3);
    EXPECT_LT(relative_difference(single.weights, other.weights), tolerance()) << strategy;
    EXPECT_LT(relative_difference(single.gradients, other.gradients), tolerance()) << strategy;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, SmallModelTraining,
    testing::Values(Case{"linear", OptimizerKind::kSgd}, Case{"linear", OptimizerKind::kAdam},
                    Case{"counter", OptimizerKind::kSgd}, Case{"padded", OptimizerKind::kSgd},
                    Case{"custom", OptimizerKind::kSgd}, Case{"custom", OptimizerKind::kAdam},
                    Case{"custom", OptimizerKind::kAdamW}));

}  // namespace
}  // namespace tandem::test
