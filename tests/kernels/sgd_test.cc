// SPDX-License-Identifier: Apache-2.0
#include "common/optim/optimizer.h"
#include "tests/kernels/optimizer_fixture.h"
#include "tests/kernels/recording_operations.h"

namespace tandem {
namespace {

using Sgd = OptimizerFixture;

// Halves and quarters, so that every step is exact.
TEST_F(Sgd, TwoSteps_AreThoseDoneByHand) {
  const auto sgd = make_optimizer(device(), 2, {.sgd = {.learning_rate = 0.25F, .momentum = 0.5F}});
  const Span<float> weight = filled({1, -2});
  const Span<float> gradient = filled({4, 8});
  sgd->step(operations(), stream(), weight, gradient);
  stream().synchronize();
  expect_equal(weight, filled({0, -4}));  // v = (4, 8)
  sgd->step(operations(), stream(), weight, gradient);
  stream().synchronize();
  expect_equal(weight, filled({-1.5F, -7}));  // v = 0.5 * (4, 8) + (4, 8)
}

TEST_F(Sgd, Tensors_ShareOneUpdate) {
  RecordingOperations recorded;
  const auto sgd = make_optimizer(device(), 5, {});
  const Span<float> weights = zeros(5);
  sgd->step(recorded, stream(), {weights.subspan(0, 2), weights.subspan(2, 3)},
            {random(2), random(3)});
  ASSERT_EQ(recorded.sgd.size(), 1U);
  const auto& tensors = recorded.sgd[0].tensors;
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].velocity.data(), tensors[0].velocity.data() + 2);
}

TEST_F(Sgd, InSegments_EqualsInOnePiece) { expect_segments_equal_one_piece(OptimizerKind::kSgd); }

TEST_F(Sgd, WithListsThatDoNotPairUp_IsALogicErrorAndNothingIsEnqueued) {
  RecordingOperations recorded;
  const auto sgd = make_optimizer(device(), 4, {});
  const Span<float> w = zeros(4);
  EXPECT_THROW(sgd->step(recorded, stream(), {w}, {zeros(2), zeros(2)}), Error);
  EXPECT_THROW(
      sgd->step(recorded, stream(), {w.subspan(0, 2), w.subspan(2, 2)}, {zeros(2), zeros(1)}),
      Error);
  EXPECT_THROW(sgd->step(recorded, stream(), {w.subspan(0, 2)}, {zeros(2)}), Error);
  EXPECT_THROW(sgd->step(recorded, stream(), w.subspan(0, 2), zeros(2)), Error);
  EXPECT_TRUE(recorded.sgd.empty());
}

}  // namespace
}  // namespace tandem
