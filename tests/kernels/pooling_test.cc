// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct PoolCase {
  MaxPoolShape shape;
  DType type = DType::kFloat32;
  Distribution data = Distribution::kUniform;  // integers: many elements are the largest
};

void PrintTo(const PoolCase& c, std::ostream* out) {
  *out << c.shape.batch << "x" << c.shape.height << "x" << c.shape.width << "x" << c.shape.channels
       << " " << name_of(c.type) << (c.data == Distribution::kUniform ? " uniform" : " integers");
}

class Pool : public TypedFixture, public ::testing::WithParamInterface<PoolCase> {
 public:
  static const MaxPoolShape& shape() { return GetParam().shape; }
  static DType type() { return GetParam().type; }
  AnySpan some(std::int64_t count) { return random_of(type(), count, GetParam().data); }

  // Sums of few numbers below two.
  void expect_same(ConstAnySpan actual, ConstAnySpan expected) {
    expect_agrees(actual, expected, 0x1p-20);
  }
};

TEST_P(Pool, MaxForward_IsNaive) {
  const MaxPoolForward op{shape(), some(shape().input_count()), some(shape().output_count())};
  run(op);
  expect_equal(widened(op.y), widened(naive_result(op, &MaxPoolForward::y)));
}

TEST_P(Pool, MaxBackward_AgreesWithNaive) {
  const MaxPoolForward forward{shape(), some(shape().input_count()), some(shape().output_count())};
  naive(forward);
  for (const bool joins : {false, true}) {
    const MaxPoolBackward op{.shape = shape(),
                             .x = forward.x,
                             .y = forward.y,
                             .dy = some(shape().output_count()),
                             .dabove = joins ? some(shape().output_count()) : AnySpan(),
                             .dx = some(shape().input_count())};
    run(op);
    expect_same(op.dx, naive_result(op, &MaxPoolBackward::dx));
  }
}

TEST_P(Pool, Average_AgreesWithNaive) {
  const AveragePoolShape s{shape().batch, shape().height * shape().width, shape().channels};
  const AveragePoolForward forward{s, some(shape().input_count()), some(s.batch * s.channels)};
  run(forward);
  expect_same(forward.y, naive_result(forward, &AveragePoolForward::y));
  const AveragePoolBackward backward{s, forward.y, some(shape().input_count())};
  run(backward);
  expect_equal(widened(backward.dx), widened(naive_result(backward, &AveragePoolBackward::dx)));
}

std::vector<PoolCase> pool_cases() {
  std::vector<PoolCase> all;
  for (const MaxPoolShape& shape : {MaxPoolShape{1, 1, 1, 1}, MaxPoolShape{2, 2, 3, 5},
                                    MaxPoolShape{2, 7, 8, 64}, MaxPoolShape{1, 12, 9, 33}}) {
    for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
      for (const auto data : {Distribution::kUniform, Distribution::kSmallIntegers}) {
        all.push_back({shape, type, data});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Pool, ::testing::ValuesIn(pool_cases()));

class MaxPool : public TypedFixture {};

TEST_F(MaxPool, OfEqualElements_TheFirstTakesTheGradient) {
  const MaxPoolShape shape{1, 2, 2, 1};
  const Span<float> x = filled({3, 3, 3, 3});
  const Span<float> dx = zeros(4);
  run(MaxPoolBackward{.shape = shape, .x = x, .y = filled({3}), .dy = filled({7}), .dx = dx});
  EXPECT_THAT(std::vector<float>(dx.begin(), dx.end()), ElementsAre(7, 0, 0, 0));
}

TEST_F(MaxPool, PaddingIsNeverTheLargest_NanIs) {
  const Span<float> y = zeros(1);
  run(MaxPoolForward{{1, 2, 2, 1}, filled({-3, -1, -2, -4}), y});
  EXPECT_EQ(*y.begin(), -1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  run(MaxPoolForward{{1, 2, 2, 1}, filled({3, nan, 5, 4}), y});
  EXPECT_TRUE(std::isnan(*y.begin()));
}

TEST_F(MaxPool, WrongOperands_AreRefusedByName) {
  EXPECT_THAT(refusal_of(MaxPoolForward{{1, 4, 4, 1}, zeros(16), zeros(16)}),
              HasSubstr("y has 16 elements"));
  EXPECT_THAT(refusal_of(MaxPoolForward{{1, 0, 4, 1}, zeros(0), zeros(0)}),
              HasSubstr("a pooling of 1 x 0"));
  EXPECT_THAT(refusal_of(AveragePoolForward{{1, 4, 2}, zeros(8), zeros(3)}),
              HasSubstr("y has 3 elements"));
  EXPECT_THAT(refusal_of(AveragePoolBackward{{1, 4, 2}, zeros(2), zeros(9)}),
              HasSubstr("dx has 9 elements"));
}

}  // namespace
}  // namespace tandem
