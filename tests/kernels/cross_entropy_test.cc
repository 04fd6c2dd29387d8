// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct Rows {
  std::int64_t rows;
  std::int64_t classes;
  std::int64_t padding = 0;
};

void PrintTo(const Rows& shape, std::ostream* out) {
  *out << shape.rows << "x" << shape.classes << "+" << shape.padding;
}

class CrossEntropy : public TypedFixture {
 public:
  Span<float> targets(const Rows& shape) {
    const Span<float> values = zeros(shape.rows);
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      values.data()[r] = static_cast<float>((r * 37 + shape.classes - 1) % shape.classes);
    }
    return values;
  }

  // Logits in [-8, 8).
  CrossEntropyLoss loss(const Rows& shape) {
    const Span<float> prediction = random(shape.rows * (shape.classes + shape.padding));
    naive(Scale{.in = prediction, .out = prediction, .factor = 8});
    return {.classes = shape.classes,
            .prediction = prediction,
            .target = targets(shape),
            .gradient = random(prediction.size()),
            .loss = zeros(1),
            .padding = shape.padding};
  }

  CrossEntropyLossBackward backward(const CrossEntropyLoss& op, float loss_gradient) {
    return {.classes = op.classes,
            .prediction = op.prediction,
            .target = op.target,
            .loss_gradient = filled({loss_gradient}),
            .gradient = zeros(op.prediction.size()),
            .padding = op.padding};
  }

  CrossEntropyLoss with_other_results(CrossEntropyLoss op) {
    op.gradient = zeros(op.gradient.size());
    op.loss = zeros(1);
    return op;
  }
};

class CrossEntropyOf : public CrossEntropy, public ::testing::WithParamInterface<Rows> {
 public:
  // Gradients of all classes but the target's are mostly far smaller than the largest: each is held
  // to its own size.
  void expect_gradient_near(ConstAnySpan given, ConstAnySpan wanted) {
    const auto actual = given.as<const float>();
    const auto expected = wanted.as<const float>();
    ASSERT_EQ(actual.size(), expected.size());
    const double largest = 1 / static_cast<double>(GetParam().rows);
    for (std::int64_t i = 0; i < actual.size(); ++i) {
      const double own = std::abs(double{expected.data()[i]});
      const bool is_target = expected.data()[i] < 0;
      ASSERT_NEAR(actual.data()[i], expected.data()[i], 1e-6 * (is_target ? largest : own))
          << "at element " << i;
    }
  }
};

TEST_P(CrossEntropyOf, Loss_AgreesWithNaive) {
  const CrossEntropyLoss op = loss(GetParam());
  const CrossEntropyLoss expected = with_other_results(op);
  run(op);
  naive(expected);
  expect_near_normwise(op.loss, expected.loss, 3e-7);
  expect_gradient_near(op.gradient, expected.gradient);
}

TEST_P(CrossEntropyOf, LossInPlace_GivesTheSameBits) {
  const CrossEntropyLoss apart = loss(GetParam());
  CrossEntropyLoss in_place = with_other_results(apart);
  in_place.gradient = copy_of_any(apart.prediction);
  in_place.prediction = in_place.gradient;
  run(apart);
  run(in_place);
  expect_same_bits(in_place.loss, apart.loss);
  expect_same_bits(in_place.gradient, apart.gradient);
}

TEST_P(CrossEntropyOf, LossAlone_IsThatWithTheGradient) {
  const CrossEntropyLoss with = loss(GetParam());
  CrossEntropyLoss alone = with_other_results(with);
  alone.gradient = {};
  CrossEntropyLoss plain = with_other_results(alone);
  run(with);
  run(alone);
  naive(plain);
  expect_same_bits(alone.loss, with.loss);
  expect_near_normwise(alone.loss, plain.loss, 3e-7);
}

TEST_P(CrossEntropyOf, Backward_AgreesWithNaiveAlsoInPlace) {
  const CrossEntropyLossBackward op = backward(loss(GetParam()), 0.25F);
  CrossEntropyLossBackward expected = op;
  expected.gradient = zeros(op.gradient.size());
  CrossEntropyLossBackward in_place = op;
  in_place.gradient = copy_of_any(op.prediction);
  in_place.prediction = in_place.gradient;
  run(op);
  run(in_place);
  naive(expected);
  expect_gradient_near(op.gradient, expected.gradient);
  expect_same_bits(in_place.gradient, op.gradient);
}

// As casts around a loss in fp32.
TEST_P(CrossEntropyOf, OnBf16_HasTheBitsOfFp32RoundedOnce) {
  CrossEntropyLoss narrow = loss(GetParam());
  narrow.prediction = rounded(DType::kBFloat16, narrow.prediction.as<const float>());
  narrow.gradient = random_of(DType::kBFloat16, narrow.prediction.size());
  CrossEntropyLoss wide = with_other_results(narrow);
  wide.prediction = widened(narrow.prediction);
  CrossEntropyLoss in_place = with_other_results(narrow);
  in_place.gradient = copy_of_any(narrow.prediction);
  in_place.prediction = in_place.gradient;
  CrossEntropyLoss alone = with_other_results(narrow);
  alone.gradient = {};
  for (const CrossEntropyLoss& op : {narrow, wide, in_place, alone}) run(op);
  const auto once_rounded = [&](ConstAnySpan gradient) {
    return rounded(DType::kBFloat16, gradient.as<const float>());
  };
  for (const CrossEntropyLoss& op : {narrow, in_place}) {
    expect_same_bits(op.gradient, once_rounded(wide.gradient));
    expect_same_bits(op.loss, wide.loss);
  }
  expect_same_bits(alone.loss, wide.loss);
  const CrossEntropyLossBackward wide_backward = backward(wide, 0.3F);
  CrossEntropyLossBackward narrow_backward = backward(narrow, 0.3F);
  narrow_backward.gradient = narrow.gradient;
  run(wide_backward);
  run(narrow_backward);
  expect_same_bits(narrow_backward.gradient, once_rounded(wide_backward.gradient));
}

// Below, at and beside the widths and blocks that the loops work in, and GPT-2's.
INSTANTIATE_TEST_SUITE_P(Shapes, CrossEntropyOf,
                         ::testing::Values(Rows{1, 1}, Rows{1, 2}, Rows{3, 10}, Rows{5, 64},
                                           Rows{4, 65}, Rows{2, 1024}, Rows{7, 1025},
                                           Rows{3, 50257}, Rows{1, 1, 7}, Rows{5, 10, 3},
                                           Rows{3, 50257, 7}));

TEST_F(CrossEntropy, OfEvenChances_IsTheLogarithmOfTheClasses) {
  const CrossEntropyLoss op{.classes = 4,
                            .prediction = filled({3, 3, 3, 3, -2, -2, -2, -2}),
                            .target = filled({0, 3}),
                            .gradient = zeros(8),
                            .loss = zeros(1)};
  const CrossEntropyLoss plain = with_other_results(op);
  run(op);
  naive(plain);
  const float e = 0.125F;
  for (const CrossEntropyLoss& done : {op, plain}) {
    expect_near(done.loss, filled({std::log(4.0F)}), 1e-6);
    expect_near(done.gradient.as<float>(), filled({e - 0.5F, e, e, e, e, e, e, e - 0.5F}), 1e-7);
  }
}

TEST_F(CrossEntropy, OfHugeLogits_StaysFinite) {
  const CrossEntropyLoss op{.classes = 3,
                            .prediction = filled({1e4F, -1e4F, 0, 1e30F, 0, 0}),
                            .target = filled({1, 0}),
                            .gradient = zeros(6),
                            .loss = zeros(1)};
  run(op);
  expect_equal(op.loss, filled({1e4F}));
  expect_equal(op.gradient.as<float>(), filled({0.5F, -0.5F, 0, 0, 0, 0}));
}

TEST_F(CrossEntropy, OfANaN_IsNaN) {
  CrossEntropyLoss op = loss({2, 70});
  const Span<float> prediction = copy_of(op.prediction.as<const float>());
  prediction.data()[69] = std::numeric_limits<float>::quiet_NaN();
  op.prediction = prediction;
  run(op);
  EXPECT_TRUE(std::isnan(*op.loss.data()));
  EXPECT_TRUE(std::isnan(element(op.gradient, 0)));
  EXPECT_FALSE(std::isnan(element(op.gradient, 70)));
}

TEST_F(CrossEntropy, OfATargetThatIsNoClass_FailsAtSynchronize) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {-1.0F, 10.0F, 0.5F, nan}) {
    CrossEntropyLoss op = loss({3, 10});
    op.target = filled({9, 0, wrong});
    EXPECT_THAT(logic_error_at_synchronize(op), HasSubstr("target[2]")) << wrong;
    EXPECT_THAT(logic_error_at_synchronize(backward(op, 1)), HasSubstr("target[2]")) << wrong;
    EXPECT_THAT(logic_error_of([&] { naive(op); }), HasSubstr("target[2]")) << wrong;
    op.gradient = {};
    EXPECT_THAT(logic_error_at_synchronize(op), HasSubstr("target[2]")) << wrong;
  }
}

TEST_F(CrossEntropy, OfOperandsThatDoNotFit_NamesThem) {
  const CrossEntropyLoss fits = loss({3, 10});
  const auto refused = [&](auto change) {
    CrossEntropyLoss op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.classes = 0; }), HasSubstr("3 rows of 0 classes"));
  EXPECT_THAT(refused([&](auto& op) { op.classes = (1 << 24) + 1; }),
              HasSubstr("which fp32 cannot represent"));
  EXPECT_THAT(refused([&](auto& op) { op.target = {}; }), HasSubstr("0 rows of 10"));
  EXPECT_THAT(refused([&](auto& op) { op.target = zeros(2); }), HasSubstr("prediction has 30"));
  EXPECT_THAT(refused([&](auto& op) { op.padding = 1; }), HasSubstr("prediction has 30"));
  EXPECT_THAT(refused([&](auto& op) { op.padding = -1; }), HasSubstr("-1 of padding"));
  EXPECT_THAT(refused([&](auto& op) { op.gradient = zeros_of(DType::kBFloat16, 30); }),
              HasSubstr("gradient is bf16"));
  EXPECT_THAT(refused([&](auto& op) { op.gradient = zeros(3); }), HasSubstr("gradient has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.loss = zeros(3); }), HasSubstr("loss has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.target = zeros(3, 1); }), HasSubstr("host:1"));
}

TEST_F(CrossEntropy, BackwardOfOperandsThatDoNotFit_NamesThem) {
  const CrossEntropyLossBackward fits = backward(loss({3, 10}), 1);
  const auto refused = [&](auto change) {
    CrossEntropyLossBackward op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.prediction = zeros(20); }), HasSubstr("prediction has"));
  EXPECT_THAT(refused([&](auto& op) { op.loss_gradient = zeros(2); }),
              HasSubstr("loss_gradient has 2"));
  EXPECT_THAT(refused([&](auto& op) { op.gradient = {}; }), HasSubstr("gradient has 0"));
  EXPECT_THAT(refused([&](auto& op) { op.gradient = zeros(30, 1); }), HasSubstr("host:1"));
}

}  // namespace
}  // namespace tandem
