// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "common/kernels/host_support.h"
#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct ConvolutionCase {
  ConvolutionShape shape;
  DType type = DType::kFloat32;
  Distribution data = Distribution::kUniform;
};

void PrintTo(const ConvolutionCase& c, std::ostream* out) {
  const ConvolutionShape& s = c.shape;
  *out << s.batch << "x" << s.height << "x" << s.width << "x" << s.in << "->" << s.out << ",k"
       << s.kernel << ",s" << s.stride << ",p" << s.padding << " " << name_of(c.type)
       << (c.data == Distribution::kUniform ? " uniform" : " integers");
}

class Convolution : public TypedFixture, public ::testing::WithParamInterface<ConvolutionCase> {
 public:
  void SetUp() override {
    if (type() == DType::kBFloat16 && host_bf16_support() == Bf16Support::kNone)
      GTEST_SKIP() << "the library has no bf16 convolutions for this CPU";
  }
  static const ConvolutionShape& shape() { return GetParam().shape; }
  static DType type() { return GetParam().type; }
  AnySpan some(std::int64_t count) { return random_of(type(), count, GetParam().data); }

  // The tolerance of a sum of `terms` products of numbers below one; integers add up exactly.
  static double tolerance(std::int64_t terms) {
    if (GetParam().data == Distribution::kSmallIntegers) return 0;
    return 0x1p-23 * static_cast<double>(terms + 4);
  }
  static std::int64_t taps() { return shape().kernel * shape().kernel; }
};

TEST_P(Convolution, Forward_AgreesWithNaive) {
  ConvolutionForward op{.shape = shape(),
                        .x = some(shape().input_count()),
                        .weight = some(shape().weight_count()),
                        .y = some(shape().output_count())};
  run(op);
  expect_agrees(op.y, naive_result(op, &ConvolutionForward::y), tolerance(taps() * shape().in));
}

TEST_P(Convolution, BackwardInput_AgreesWithNaive) {
  ConvolutionBackwardInput op{.shape = shape(),
                              .dy = some(shape().output_count()),
                              .weight = some(shape().weight_count()),
                              .dx = some(shape().input_count())};
  run(op);
  expect_agrees(op.dx, naive_result(op, &ConvolutionBackwardInput::dx),
                tolerance(taps() * shape().out));
}

TEST_P(Convolution, BackwardWeight_AgreesWithNaiveInFp32AndOverwrites) {
  ConvolutionBackwardWeight op{.shape = shape(),
                               .x = some(shape().input_count()),
                               .dy = some(shape().output_count()),
                               .dweight = random(shape().weight_count())};
  run(op);
  const Span<float> actual = op.dweight;
  op.dweight = zeros(actual.size());
  naive(op);
  expect_near(actual, op.dweight,
              tolerance(shape().batch * shape().out_height() * shape().out_width()));
}

// Convolutions of a ResNet, at and off the sizes that libraries have kernels for.
std::vector<ConvolutionCase> convolution_cases() {
  const ConvolutionShape shapes[] = {
      {1, 1, 1, 1, 1, 1, 1, 0},    {2, 5, 7, 3, 5, 1, 1, 0},    {3, 7, 6, 16, 32, 1, 1, 0},
      {2, 7, 7, 33, 17, 1, 2, 0},  {2, 6, 9, 5, 4, 3, 1, 1},    {2, 8, 8, 16, 64, 3, 1, 1},
      {1, 9, 8, 64, 64, 3, 2, 1},  {2, 7, 7, 32, 16, 3, 2, 1},  {2, 19, 21, 3, 64, 7, 2, 3},
      {1, 16, 16, 3, 8, 7, 2, 3},  {2, 8, 8, 64, 256, 1, 1, 0}, {2, 8, 8, 64, 128, 1, 2, 0},
      {1, 4, 4, 128, 64, 3, 1, 0}, {1, 3, 3, 2, 2, 3, 1, 1},    {2, 6, 6, 8, 8, 3, 3, 2},
      {2, 17, 16, 24, 40, 1, 1, 0}};
  std::vector<ConvolutionCase> all;
  for (const ConvolutionShape& shape : shapes) {
    for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
      all.push_back({shape, type, Distribution::kUniform});
    }
    all.push_back({shape, DType::kFloat32, Distribution::kSmallIntegers});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Convolution, ::testing::ValuesIn(convolution_cases()));

// torch's example sizes: 224 -> 112 by 7 x 7 with stride 2 and padding 3.
TEST(ConvolutionShape, CountsWindowsAndFlops) {
  constexpr ConvolutionShape kFirst{.batch = 2,
                                    .height = 224,
                                    .width = 224,
                                    .in = 3,
                                    .out = 64,
                                    .kernel = 7,
                                    .stride = 2,
                                    .padding = 3};
  EXPECT_EQ(kFirst.out_height(), 112);
  EXPECT_EQ(kFirst.output_count(), 2 * 112 * 112 * 64);
  EXPECT_EQ(kFirst.weight_count(), 64 * 7 * 7 * 3);
  EXPECT_EQ(convolution_flops(kFirst), 2LL * 2 * 112 * 112 * 64 * 7 * 7 * 3);
}

class ConvolutionOperands : public TypedFixture {
 public:
  ConvolutionForward forward() {
    const ConvolutionShape shape{1, 4, 4, 2, 3, 3, 1, 1};
    return {.shape = shape,
            .x = random(shape.input_count()),
            .weight = random(shape.weight_count()),
            .y = random(shape.output_count())};
  }
};

TEST_F(ConvolutionOperands, OfWrongSize_AreRefusedByName) {
  ConvolutionForward op = forward();
  op.weight = random(7);
  EXPECT_THAT(refusal_of(op), HasSubstr("weight has 7 elements"));
  op = forward();
  op.shape.width = 5;
  EXPECT_THAT(refusal_of(op), HasSubstr("x has 32 elements"));
  op = forward();
  op.shape.padding = 3;
  EXPECT_THAT(refusal_of(op), HasSubstr("padding 3"));
  op = forward();
  op.shape.padding = 0;
  op.shape.height = 2;
  EXPECT_THAT(refusal_of(op), HasSubstr("a kernel of 3 on 2 x 4"));
  op = forward();
  op.shape.batch = 0;
  EXPECT_THAT(refusal_of(op), HasSubstr("a convolution of 0 x"));
}

TEST_F(ConvolutionOperands, OfTwoTypes_AreRefused) {
  ConvolutionForward op = forward();
  op.weight = random_of(DType::kBFloat16, op.weight.size());
  EXPECT_THAT(refusal_of(op), HasSubstr("is bf16 where fp32 is needed"));
  const ConvolutionForward good = forward();
  ConvolutionBackwardInput input{good.shape, good.y, good.weight, zeros_of(DType::kBFloat16, 32)};
  EXPECT_THAT(refusal_of(input), HasSubstr("is bf16"));
  ConvolutionBackwardWeight weight{good.shape, good.x, random_of(DType::kBFloat16, good.y.size()),
                                   zeros(good.weight.size())};
  EXPECT_THAT(refusal_of(weight), HasSubstr("is bf16"));
}

TEST_F(ConvolutionOperands, OnAnotherDevice_AreRefusedAndNothingIsPrepared) {
  ConvolutionForward op = forward();
  op.y = zeros(op.y.size(), 1);
  EXPECT_THAT(refusal_of(op), HasSubstr("host:1"));
  EXPECT_EQ(operations().convolution_count(), 0);
}

TEST_F(ConvolutionOperands, OfOneShape_ArePreparedOnce) {
  const ConvolutionForward op = forward();
  run(op);
  const Bytes used = device().memory().used;
  run(op);
  EXPECT_EQ(operations().convolution_count(), 1);
  EXPECT_EQ(device().memory().used, used);
}

// A copy of the weight to another layout would cost more than it gains.
TEST_F(ConvolutionOperands, OfOneByOneOnFewPositions_AreAProduct) {
  const auto pointwise = [&](std::int64_t size) {
    const ConvolutionShape shape{2, size, size, 3, 5, 1, 1, 0};
    run(ConvolutionForward{.shape = shape,
                           .x = random(shape.input_count()),
                           .weight = random(shape.weight_count()),
                           .y = random(shape.output_count())});
  };
  pointwise(7);
  EXPECT_EQ(operations().primitive_count(), 1);
  EXPECT_EQ(operations().convolution_count(), 0);
  pointwise(16);
  EXPECT_EQ(operations().primitive_count(), 1);
  EXPECT_EQ(operations().convolution_count(), 1);
}

}  // namespace
}  // namespace tandem
