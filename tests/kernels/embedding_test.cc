// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class Embedding : public TypedFixture {
 public:
  // Ids that come again, some of them in one sample.
  Span<float> ids(const EmbeddingShape& shape) {
    const Span<float> values = zeros(shape.rows);
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      values.data()[r] = static_cast<float>(r * r * 7 % shape.vocabulary);
    }
    return values;
  }

  EmbeddingForward forward(const EmbeddingShape& s) {
    return {.shape = s,
            .ids = ids(s),
            .tokens = random(s.vocabulary * s.width),
            .places = random(s.positions * s.width),
            .y = zeros(s.rows * s.width)};
  }

  EmbeddingBackward backward(const EmbeddingShape& s, Distribution values) {
    return {.shape = s,
            .ids = ids(s),
            .dy = random(s.rows * s.width, values),
            .dtokens = random(s.vocabulary * s.width, values),
            .dplaces = random(s.positions * s.width, values)};
  }
};

class EmbeddingOf : public Embedding, public ::testing::WithParamInterface<EmbeddingShape> {
 public:
  void expect_backward_agrees(Distribution values, double bound) {
    const EmbeddingBackward op = backward(GetParam(), values);
    EmbeddingBackward expected = op;
    expected.dtokens = copy_of(op.dtokens);
    expected.dplaces = copy_of(op.dplaces);
    run(op);
    naive(expected);
    expect_near(op.dtokens, expected.dtokens, bound);
    expect_near(op.dplaces, expected.dplaces, bound);
  }
};

TEST_P(EmbeddingOf, Forward_EqualsNaive) {
  const EmbeddingForward op = forward(GetParam());
  EmbeddingForward expected = op;
  expected.y = zeros(op.y.size());
  run(op);
  naive(expected);
  expect_equal(op.y, expected.y);
}

// At most `rows` numbers below one are added up in fp32.
TEST_P(EmbeddingOf, Backward_AgreesWithNaive) {
  const auto rows = static_cast<double>(GetParam().rows);
  expect_backward_agrees(Distribution::kUniform, 0x1p-24 * rows * rows);
}

TEST_P(EmbeddingOf, BackwardOfIntegers_EqualsNaive) {
  expect_backward_agrees(Distribution::kSmallIntegers, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, EmbeddingOf,
                         ::testing::Values(EmbeddingShape{1, 1, 1, 1}, EmbeddingShape{6, 3, 5, 7},
                                           EmbeddingShape{8, 8, 100, 33},
                                           EmbeddingShape{12, 4, 3, 48},
                                           EmbeddingShape{64, 16, 1000, 129}));

TEST_F(Embedding, OfKnownTables_AddsTokenAndPlace) {
  const EmbeddingForward op{.shape = {.rows = 4, .positions = 2, .vocabulary = 3, .width = 2},
                            .ids = filled({2, 0, 2, 1}),
                            .tokens = filled({1, 2, 3, 4, 5, 6}),
                            .places = filled({10, 20, 30, 40}),
                            .y = zeros(8)};
  const std::vector<float> expected{15, 26, 31, 42, 15, 26, 33, 44};
  run(op);
  expect_equal(op.y, filled(expected));
  const Span<float> plain = zeros(8);
  naive({.shape = op.shape, .ids = op.ids, .tokens = op.tokens, .places = op.places, .y = plain});
  expect_equal(plain, filled(expected));
}

// The table's gradient is added to, as it may hold the output layer's; that of the places is not.
TEST_F(Embedding, BackwardOfKnownGradients_AddsToTokensAndOverwritesPlaces) {
  const EmbeddingBackward op{.shape = {.rows = 4, .positions = 2, .vocabulary = 3, .width = 1},
                             .ids = filled({2, 0, 2, 2}),
                             .dy = filled({1, 2, 3, 4}),
                             .dtokens = filled({100, 200, 300}),
                             .dplaces = filled({7, 7})};
  EmbeddingBackward plain = op;
  plain.dtokens = copy_of(op.dtokens);
  plain.dplaces = copy_of(op.dplaces);
  run(op);
  naive(plain);
  for (const EmbeddingBackward& done : {op, plain}) {
    expect_equal(done.dtokens, filled({102, 200, 308}));
    expect_equal(done.dplaces, filled({4, 6}));
  }
}

TEST_F(Embedding, OfAnIdOutsideTheTable_FailsAtSynchronize) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float wrong : {-1.0F, 5.0F, 0.5F, nan, 1e30F}) {
    EmbeddingForward ahead = forward({.rows = 2, .positions = 2, .vocabulary = 5, .width = 3});
    ahead.ids = filled({4, wrong});
    EXPECT_THAT(logic_error_at_synchronize(ahead), HasSubstr("ids[1]")) << wrong;
    EmbeddingBackward back = backward(ahead.shape, Distribution::kUniform);
    back.ids = ahead.ids;
    EXPECT_THAT(logic_error_at_synchronize(back), HasSubstr("ids[1]")) << wrong;
    EXPECT_THAT(logic_error_of([&] { naive(ahead); }), HasSubstr("ids[1]")) << wrong;
  }
}

TEST_F(Embedding, OfOperandsThatDoNotFit_NamesThem) {
  const EmbeddingShape shape{.rows = 4, .positions = 2, .vocabulary = 5, .width = 3};
  const EmbeddingForward fits = forward(shape);
  EmbeddingForward op = fits;
  op.ids = zeros(3);
  EXPECT_THAT(refusal_of(op), HasSubstr("ids has 3"));
  op = fits;
  op.tokens = zeros(14);
  EXPECT_THAT(refusal_of(op), HasSubstr("tokens has 14"));
  op = fits;
  op.places = zeros(12);
  EXPECT_THAT(refusal_of(op), HasSubstr("places has 12"));
  op = fits;
  op.y = zeros(6);
  EXPECT_THAT(refusal_of(op), HasSubstr("y has 6"));
  op = fits;
  op.shape.positions = 3;
  EXPECT_THAT(refusal_of(op), HasSubstr("4 tokens in samples of 3"));
  op = fits;
  op.shape.vocabulary = (1 << 24) + 1;
  EXPECT_THAT(refusal_of(op), HasSubstr("fp32 cannot represent"));
}

TEST_F(Embedding, BackwardOfOperandsThatDoNotFit_NamesThem) {
  const EmbeddingShape shape{.rows = 4, .positions = 2, .vocabulary = 5, .width = 3};
  const EmbeddingBackward fits = backward(shape, Distribution::kUniform);
  EmbeddingBackward op = fits;
  op.ids = zeros(3);
  EXPECT_THAT(refusal_of(op), HasSubstr("ids has 3"));
  op = fits;
  op.dy = zeros(11);
  EXPECT_THAT(refusal_of(op), HasSubstr("dy has 11"));
  op = fits;
  op.dtokens = zeros(14);
  EXPECT_THAT(refusal_of(op), HasSubstr("dtokens has 14"));
  op = fits;
  op.dplaces = zeros(12);
  EXPECT_THAT(refusal_of(op), HasSubstr("dplaces has 12"));
}

TEST_F(Embedding, OnAnotherDevicesMemory_IsALogicError) {
  EmbeddingForward ahead = forward({.rows = 2, .positions = 2, .vocabulary = 5, .width = 3});
  ahead.tokens = zeros(15, 1);
  EXPECT_THAT(refusal_of(ahead), HasSubstr("host:1"));
  EmbeddingBackward back = backward(ahead.shape, Distribution::kUniform);
  back.dplaces = zeros(6, 1);
  EXPECT_THAT(refusal_of(back), HasSubstr("host:1"));
}

}  // namespace
}  // namespace tandem
