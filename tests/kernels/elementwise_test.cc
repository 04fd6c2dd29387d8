// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

// Counts below, at and beside the widths that vectorised loops work in.
class Elementwise : public TypedFixture, public ::testing::WithParamInterface<std::int64_t> {
 public:
  std::int64_t count() { return GetParam(); }
};

TEST_P(Elementwise, ReluBackward_EqualsNaive) {
  const Span<float> y = random(count(), Distribution::kSmallIntegers);
  const Span<float> actual = random(count());
  const Span<float> expected = copy_of(actual);
  run(ReluBackward{.y = y, .dy = actual});
  naive(ReluBackward{.y = y, .dy = expected});
  expect_equal(actual, expected);
}

TEST_P(Elementwise, SgdUpdate_EqualsNaive) {
  SgdUpdate op{.learning_rate = 0.01F, .momentum = 0.9F};
  for (const std::int64_t size : {count(), std::int64_t{5}}) {
    op.tensors.push_back({random(size), random(size), random(size)});
  }
  SgdUpdate expected = op;
  for (SgdUpdate::Tensor& t : expected.tensors) {
    t.velocity = copy_of(t.velocity);
    t.weight = copy_of(t.weight);
  }
  run(op);
  naive(expected);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    expect_equal(op.tensors[i].velocity, expected.tensors[i].velocity);
    expect_equal(op.tensors[i].weight, expected.tensors[i].weight);
  }
}

TEST_P(Elementwise, AdamUpdate_EqualsNaive) {
  AdamUpdate op{
      .clock = filled({2, 0, 0, 0, 0, 0, 0, 0}),
      .rates = {
          .learning_rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01}};
  for (const std::int64_t size : {count(), std::int64_t{5}}) {
    op.tensors.push_back({random(size), random(size), random(size), random(size)});
    for (float& second : op.tensors.back().second) second = 1e-3F * std::abs(second);
  }
  AdamUpdate expected = op;
  expected.clock = copy_of(op.clock);
  for (AdamUpdate::Tensor& t : expected.tensors) {
    t.first = copy_of(t.first);
    t.second = copy_of(t.second);
    t.weight = copy_of(t.weight);
  }
  run(op);
  naive(expected);
  expect_equal(op.clock, expected.clock);
  EXPECT_EQ(*op.clock.data(), 3);
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    expect_equal(op.tensors[i].first, expected.tensors[i].first);
    expect_equal(op.tensors[i].second, expected.tensors[i].second);
    expect_equal(op.tensors[i].weight, expected.tensors[i].weight);
  }
}

TEST_P(Elementwise, Fill_SetsAllAndNoMore) {
  const Span<float> values = random(count() + 1);
  const float after = values.data()[count()];
  run(Fill{.values = values.subspan(0, count()), .constant = 0.3F});
  std::vector<float> expected(static_cast<std::size_t>(count()), 0.3F);
  expected.push_back(after);
  expect_equal(values, filled(expected));
  naive(Fill{.values = values, .constant = -2});
  expect_equal(values, filled(std::vector<float>(expected.size(), -2.0F)));
}

TEST_P(Elementwise, AddScalar_EqualsNaive) {
  const Span<float> actual = random(count());
  const Span<float> expected = copy_of(actual);
  run(AddScalar{.tensors = {actual}, .constant = 0.3F});
  naive(AddScalar{.tensors = {expected}, .constant = 0.3F});
  expect_equal(actual, expected);
}

TEST_P(Elementwise, Scale_EqualsNaiveAlsoInPlace) {
  const Span<float> in = random(count());
  const Span<float> actual = zeros(count());
  const Span<float> expected = zeros(count());
  naive(Scale{.in = in, .out = expected, .factor = 0.3F});
  run(Scale{.in = in, .out = actual, .factor = 0.3F});
  run(Scale{.in = in, .out = in, .factor = 0.3F});
  expect_equal(actual, expected);
  expect_equal(in, expected);
}

TEST_P(Elementwise, Add_EqualsNaiveAlsoInPlace) {
  const Span<float> a = random(count());
  const Span<float> b = random(count());
  const Span<float> actual = zeros(count());
  const Span<float> expected = zeros(count());
  naive(Add{.a = a, .b = b, .sum = expected});
  run(Add{.a = a, .b = b, .sum = actual});
  run(Add{.a = a, .b = b, .sum = a});
  expect_equal(actual, expected);
  expect_equal(a, expected);
}

TEST_P(Elementwise, FillRandom_EqualsNaive) {
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kSmallIntegers}) {
    FillRandom op{.values = zeros(count()),
                  .seed = 42,
                  .first = 13,
                  .distribution = distribution,
                  .scale = 0.7F};
    run(op);
    const Span<float> actual = op.values;
    op.values = zeros(count());
    naive(op);
    expect_equal(actual, op.values);
  }
}

TEST_P(Elementwise, MseLoss_AgreesWithNaive_AndEqualsItOnIntegers) {
  for (const auto values : {Distribution::kUniform, Distribution::kSmallIntegers}) {
    MseLoss op{.prediction = random(count(), values),
               .target = random(count(), values),
               .gradient = zeros(count()),
               .loss = zeros(1)};
    run(op);
    const MseLoss actual = op;
    op.gradient = zeros(count());
    op.loss = zeros(1);
    naive(op);
    expect_same_bits(actual.gradient, op.gradient);
    expect_near(actual.loss, op.loss, values == Distribution::kUniform ? 1e-7 : 0);
  }
}

TEST_P(Elementwise, MseLossAlone_IsTheLossWithAGradient) {
  MseLoss op{.prediction = random(count()),
             .target = random(count()),
             .gradient = zeros(count()),
             .loss = zeros(1)};
  run(op);
  const Span<float> expected = op.loss;
  op.gradient = {};
  op.loss = zeros(1);
  run(op);
  expect_equal(op.loss, expected);
  naive(op);
  expect_near(op.loss, expected, 1e-7);
}

TEST_P(Elementwise, MseLossBackward_EqualsNaive) {
  MseLossBackward op{.prediction = random(count()),
                     .target = random(count()),
                     .loss_gradient = random(1),
                     .gradient = zeros(count())};
  run(op);
  const AnySpan actual = op.gradient;
  op.gradient = zeros(count());
  naive(op);
  expect_same_bits(actual, op.gradient);
}

TEST_P(Elementwise, MseLossBackwardOfOne_IsMseLosssGradient) {
  const MseLoss loss{.prediction = random(count()),
                     .target = random(count()),
                     .gradient = zeros(count()),
                     .loss = zeros(1)};
  const Span<float> gradient = zeros(count());
  run(loss);
  run(MseLossBackward{.prediction = loss.prediction,
                      .target = loss.target,
                      .loss_gradient = filled({1}),
                      .gradient = gradient});
  expect_same_bits(gradient, loss.gradient);
}

// As casts around a loss in fp32.
TEST_P(Elementwise, MseLossOnBf16_HasTheBitsOfFp32RoundedOnce) {
  const MseLoss narrow{.prediction = random_of(DType::kBFloat16, count()),
                       .target = random(count()),
                       .gradient = zeros_of(DType::kBFloat16, count()),
                       .loss = zeros(1)};
  const MseLoss wide{.prediction = widened(narrow.prediction),
                     .target = narrow.target,
                     .gradient = zeros(count()),
                     .loss = zeros(1)};
  const auto expect_rounded = [&] {
    expect_same_bits(narrow.gradient, rounded(DType::kBFloat16, wide.gradient.as<const float>()));
  };
  run(narrow);
  run(wide);
  expect_rounded();
  const Span<float> loss_gradient = random(1);
  run(MseLossBackward{narrow.prediction, narrow.target, loss_gradient, narrow.gradient});
  run(MseLossBackward{wide.prediction, wide.target, loss_gradient, wide.gradient});
  expect_rounded();
  expect_same_bits(narrow.loss, wide.loss);
  MseLoss alone = narrow;
  alone.gradient = {};
  run(alone);
  expect_same_bits(alone.loss, wide.loss);
}

TEST_P(Elementwise, WeightedSum_AgreesWithNaive) {
  WeightedSum op{.values = random(count()), .weights = random(count()), .sum = zeros(1)};
  run(op);
  const Span<float> actual = op.sum;
  op.sum = zeros(1);
  naive(op);
  expect_near(actual, op.sum, 1e-6 * std::abs(*op.sum.data()) + 1e-7);
}

// AdamW's: a weight without gradient loses learning rate times decay of itself, and no more.
TEST_F(OperationsFixture, AdamUpdateWithDecay_ShrinksTheWeightFirst) {
  const AdamUpdate op{
      .tensors = {{.gradient = filled({0, 1}),
                   .first = zeros(2),
                   .second = zeros(2),
                   .weight = filled({8, 8})}},
      .clock = zeros(AdamClock::kFloats),
      .rates = {.learning_rate = 0.5, .beta1 = 0.5, .beta2 = 0.5, .epsilon = 1e-30, .decay = 0.25}};
  AdamUpdate plain = op;
  plain.clock = zeros(AdamClock::kFloats);
  plain.tensors[0].first = zeros(2);
  plain.tensors[0].second = zeros(2);
  plain.tensors[0].weight = copy_of(op.tensors[0].weight);
  run(op);
  naive(plain);
  expect_near(op.tensors[0].weight, filled({7, 6.5F}), 1e-6);
  expect_near(plain.tensors[0].weight, filled({7, 6.5F}), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Counts, Elementwise,
                         ::testing::Values(1, 3, 15, 16, 31, 32, 33, 64, 1000, 4096, 65537));

using ElementwiseByHand = OperationsFixture;

TEST_F(ElementwiseByHand, ReluBackward_StopsTheGradientAtZeroAndKeepsItAtNan) {
  const Span<float> y = filled({-1, 0, 2, std::numeric_limits<float>::quiet_NaN()});
  const Span<float> dy = filled({5, 6, 7, 8});
  run(ReluBackward{.y = y, .dy = dy});
  expect_equal(dy, filled({0, 0, 7, 8}));
}

TEST_F(ElementwiseByHand, MseLoss_IsTheMeanSquareAndItsGradient) {
  const Span<float> gradient = zeros(4);
  const Span<float> loss = zeros(1);
  run(MseLoss{.prediction = filled({1, 2, 3, 4}),
              .target = filled({1, 0, 0, 8}),
              .gradient = gradient,
              .loss = loss});
  expect_equal(gradient, filled({0, 1, 1.5F, -2}));
  expect_equal(loss, filled({7.25F}));  // (0 + 4 + 9 + 16) / 4
}

TEST_F(ElementwiseByHand, MseLossBackward_IsTheGradientTimesTheLosss) {
  const Span<float> gradient = zeros(4);
  run(MseLossBackward{.prediction = filled({1, 2, 3, 4}),
                      .target = filled({1, 0, 0, 8}),
                      .loss_gradient = filled({0.5F}),
                      .gradient = gradient});
  expect_equal(gradient, filled({0, 0.5F, 0.75F, -1}));
}

TEST_F(ElementwiseByHand, WeightedSum_OfLossesByTheirShares_IsTheirMean) {
  const Span<float> sum = filled({99});
  run(WeightedSum{.values = filled({2, 6}), .weights = filled({0.75F, 0.25F}), .sum = sum});
  expect_equal(sum, filled({3}));
  run(WeightedSum{.values = zeros(0), .weights = zeros(0), .sum = sum});
  expect_equal(sum, filled({0}));
}

TEST_F(ElementwiseByHand, AddScalar_Counts) {
  const Span<float> counter = zeros(1);
  for (int i = 0; i < 3; ++i) run(AddScalar{.tensors = {counter}, .constant = 1});
  expect_equal(counter, filled({3}));
}

TEST_F(ElementwiseByHand, MseLoss_IsTheSameBitsEveryTime) {
  MseLoss op{.prediction = random(100'003),
             .target = random(100'003),
             .gradient = zeros(100'003),
             .loss = zeros(1)};
  run(op);
  const float first = *op.loss.data();
  for (int repeat = 0; repeat < 5; ++repeat) {
    run(op);
    EXPECT_EQ(*op.loss.data(), first);
  }
}

}  // namespace
}  // namespace tandem
