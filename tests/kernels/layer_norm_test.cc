// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

enum class Branch { kNone, kPresent };

struct NormCase {
  NormShape shape;
  DType type = DType::kFloat32;
};

void PrintTo(const NormCase& c, std::ostream* out) {
  *out << c.shape.rows << "x" << c.shape.width << " " << name_of(c.type);
}

class LayerNorm : public TypedFixture {
 public:
  LayerNormForward forward(const NormCase& c, Branch branch) {
    const std::int64_t all = c.shape.rows * c.shape.width;
    const std::int64_t added = branch == Branch::kPresent ? all : 0;
    return {.shape = c.shape,
            .x = random(all),
            .branch = random_of(c.type, added),
            .gain = random(c.shape.width),
            .bias = random(c.shape.width),
            .sum = zeros(added),
            .y = zeros_of(c.type, all),
            .mean = zeros(c.shape.rows),
            .rstd = zeros(c.shape.rows)};
  }

  LayerNormForward with_other_results(LayerNormForward op) {
    op.sum = zeros(op.sum.size());
    op.y = zeros_of(op.y.dtype(), op.y.size());
    op.mean = zeros(op.mean.size());
    op.rstd = zeros(op.rstd.size());
    return op;
  }

  // The backward pass of random rows and the statistics of these rows.
  LayerNormBackward backward(const NormCase& c, Branch above) {
    const LayerNormForward ahead = forward(c, Branch::kNone);
    naive(ahead);
    const std::int64_t all = c.shape.rows * c.shape.width;
    return {.shape = c.shape,
            .dy = random_of(c.type, all),
            .sum = ahead.x,
            .gain = ahead.gain,
            .mean = ahead.mean,
            .rstd = ahead.rstd,
            .dabove = random(above == Branch::kPresent ? all : 0),
            .dsum = random(all),
            .dbranch = random_of(c.type, all),
            .dgain = random(c.shape.width),
            .dbias = random(c.shape.width)};
  }

  LayerNormBackward with_other_results(LayerNormBackward op) {
    op.dsum = zeros(op.dsum.size());
    op.dbranch = zeros_of(op.dbranch.dtype(), op.dbranch.size());
    op.dgain = zeros(op.dgain.size());
    op.dbias = zeros(op.dbias.size());
    return op;
  }

  static constexpr NormCase kSmall{{.rows = 3, .width = 5}};
};

class LayerNormOf : public LayerNorm, public ::testing::WithParamInterface<NormCase> {
 public:
  void expect_forward_agrees(const LayerNormForward& op, const LayerNormForward& expected) {
    expect_equal(op.sum, expected.sum);
    expect_near_normwise(op.y, expected.y, 2e-6);
    expect_near(op.mean, expected.mean, 1e-7);
    expect_near_normwise(op.rstd, expected.rstd, 1e-6);
  }

  void expect_backward_agrees(const LayerNormBackward& op, const LayerNormBackward& expected) {
    expect_near_normwise(op.dsum, expected.dsum, 2e-6);
    expect_near_normwise(op.dbranch, expected.dbranch, 2e-6);
    expect_near_normwise(op.dgain, expected.dgain, 1e-6);
    expect_near_normwise(op.dbias, expected.dbias, 1e-6);
  }
};

TEST_P(LayerNormOf, Forward_AgreesWithNaive) {
  for (const Branch branch : {Branch::kNone, Branch::kPresent}) {
    const LayerNormForward op = forward(GetParam(), branch);
    const LayerNormForward expected = with_other_results(op);
    run(op);
    naive(expected);
    expect_forward_agrees(op, expected);
  }
}

TEST_P(LayerNormOf, ForwardInPlace_AgreesWithNaive) {
  LayerNormForward op = forward(GetParam(), Branch::kPresent);
  const LayerNormForward expected = with_other_results(op);
  naive(expected);
  const Span<float> residual = copy_of(op.x);
  op.x = residual;
  op.sum = residual;
  run(op);
  expect_forward_agrees(op, expected);
}

TEST_P(LayerNormOf, Backward_AgreesWithNaive) {
  for (const Branch above : {Branch::kNone, Branch::kPresent}) {
    const LayerNormBackward op = backward(GetParam(), above);
    const LayerNormBackward expected = with_other_results(op);
    run(op);
    naive(expected);
    expect_backward_agrees(op, expected);
  }
}

TEST_P(LayerNormOf, BackwardInPlaceWithoutABranch_AgreesWithNaive) {
  LayerNormBackward op = backward(GetParam(), Branch::kPresent);
  op.dbranch = {};
  const LayerNormBackward expected = with_other_results(op);
  naive(expected);
  op.dsum = copy_of(op.dabove);
  op.dabove = op.dsum;
  run(op);
  expect_backward_agrees(op, expected);
}

TEST_P(LayerNormOf, Again_GivesTheSameBits) {
  const LayerNormForward ahead = forward(GetParam(), Branch::kPresent);
  const LayerNormForward ahead_again = with_other_results(ahead);
  const LayerNormBackward back = backward(GetParam(), Branch::kPresent);
  const LayerNormBackward back_again = with_other_results(back);
  run(ahead);
  run(ahead_again);
  run(back);
  run(back_again);
  expect_same_bits(ahead.y, ahead_again.y);
  expect_same_bits(back.dsum, back_again.dsum);
  expect_same_bits(back.dgain, back_again.dgain);
}

// Widths below, at and beside those that vectorised loops work in; 2 keeps clear of width 1, whose
// gradient is a difference of equal numbers.
std::vector<NormCase> norm_cases() {
  std::vector<NormCase> all;
  for (const NormShape shape : {NormShape{1, 2}, NormShape{1, 16}, NormShape{3, 7},
                                NormShape{5, 33}, NormShape{2, 768}, NormShape{100, 131}}) {
    all.push_back({shape, DType::kFloat32});
    all.push_back({shape, DType::kBFloat16});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, LayerNormOf, ::testing::ValuesIn(norm_cases()));

TEST_F(LayerNorm, OfKnownRows_IsTheirNormalisation) {
  const LayerNormForward op{.shape = {.rows = 2, .width = 2},
                            .x = filled({1, 2, 5, 5}),
                            .branch = filled({0, 1, -1, -1}),
                            .gain = filled({1, 2}),
                            .bias = filled({10, 20}),
                            .sum = zeros(4),
                            .y = zeros(4),
                            .mean = zeros(2),
                            .rstd = zeros(2),
                            .epsilon = 0.25F};
  const LayerNormForward plain = with_other_results(op);
  run(op);
  naive(plain);
  const float rstd = 1 / std::sqrt(1.25F);
  for (const LayerNormForward& done : {op, plain}) {
    expect_equal(done.sum, filled({1, 3, 4, 4}));
    expect_equal(done.mean, filled({2, 4}));
    expect_near(done.rstd, filled({rstd, 2}), 1e-7);
    expect_near(done.y.as<float>(), filled({10 - rstd, 20 + 2 * rstd, 10, 20}), 2e-6);
  }
}

// The mean of squares less the square of the mean would have nothing left of this variance.
TEST_F(LayerNorm, FarFromZero_StillSeesTheVariance) {
  LayerNormForward op = forward({{.rows = 1, .width = 64}}, Branch::kNone);
  const Span<float> x = zeros(64);
  for (std::int64_t i = 0; i < 64; ++i) x.data()[i] = i % 2 == 0 ? 9999.0F : 10001.0F;
  op.x = x;
  run(op);
  expect_equal(op.mean, filled({10000}));
  expect_near(op.rstd, filled({1}), 1e-5);
}

TEST_F(LayerNorm, OfOperandsThatDoNotFit_NamesThem) {
  const LayerNormForward fits = forward(kSmall, Branch::kPresent);
  const auto refused = [&](auto change) {
    LayerNormForward op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.shape.rows = 0; }), HasSubstr("0 rows of 5"));
  EXPECT_THAT(refused([&](auto& op) { op.x = zeros(14); }), HasSubstr("x has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.branch = zeros(14); }), HasSubstr("branch has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.gain = zeros(3); }), HasSubstr("gain has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.bias = zeros(3); }), HasSubstr("bias has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.sum = {}; }), HasSubstr("sum has 0"));
  EXPECT_THAT(refused([&](auto& op) { op.branch = {}; }), HasSubstr("sum has 15"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros(14); }), HasSubstr("y has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.mean = zeros(5); }), HasSubstr("mean has 5"));
  EXPECT_THAT(refused([&](auto& op) { op.rstd = zeros(5); }), HasSubstr("rstd has 5"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros_of(DType::kBFloat16, 15); }),
              HasSubstr("branch is fp32"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros_of(DType::kFloat16, 15); }),
              HasSubstr("y is fp16"));
  EXPECT_THAT(refused([&](auto& op) { op.gain = zeros(5, 1); }), HasSubstr("host:1"));
}

TEST_F(LayerNorm, BackwardOfOperandsThatDoNotFit_NamesThem) {
  const LayerNormBackward fits = backward(kSmall, Branch::kPresent);
  const auto refused = [&](auto change) {
    LayerNormBackward op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.dy = zeros(14); }), HasSubstr("dy has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.sum = zeros(14); }), HasSubstr("sum has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.gain = zeros(3); }), HasSubstr("gain has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.mean = zeros(5); }), HasSubstr("mean has 5"));
  EXPECT_THAT(refused([&](auto& op) { op.rstd = zeros(5); }), HasSubstr("rstd has 5"));
  EXPECT_THAT(refused([&](auto& op) { op.dabove = zeros(14); }), HasSubstr("dabove has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.dsum = zeros(14); }), HasSubstr("dsum has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.dbranch = zeros(14); }), HasSubstr("dbranch has 14"));
  EXPECT_THAT(refused([&](auto& op) { op.dgain = zeros(3); }), HasSubstr("dgain has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.dbias = zeros(3); }), HasSubstr("dbias has 3"));
  EXPECT_THAT(refused([&](auto& op) { op.dbranch = zeros_of(DType::kBFloat16, 15); }),
              HasSubstr("dbranch is bf16"));
  EXPECT_THAT(refused([&](auto& op) { op.dsum = zeros(15, 1); }), HasSubstr("host:1"));
}

}  // namespace
}  // namespace tandem
