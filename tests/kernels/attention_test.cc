// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct AttentionCase {
  AttentionShape shape;
  DType type = DType::kFloat32;
};

void PrintTo(const AttentionCase& c, std::ostream* out) {
  const AttentionShape& s = c.shape;
  *out << s.batch << "x" << s.positions << " in " << s.heads << " heads of " << s.head_width << " "
       << name_of(c.type);
}

class Attention : public TypedFixture {
 public:
  AttentionForward forward(const AttentionCase& c) {
    const AttentionShape& s = c.shape;
    return {.shape = s,
            .qkv = random_of(c.type, s.rows() * 3 * s.width()),
            .y = zeros_of(c.type, s.rows() * s.width()),
            .log_sums = zeros(s.rows() * s.heads)};
  }

  AttentionForward with_other_results(AttentionForward op) {
    op.y = zeros_of(op.y.dtype(), op.y.size());
    op.log_sums = zeros(op.log_sums.size());
    return op;
  }

  // The backward pass of a forward pass by the naive version.
  AttentionBackward backward(const AttentionCase& c) {
    const AttentionForward ahead = forward(c);
    naive(ahead);
    return {.shape = c.shape,
            .qkv = ahead.qkv,
            .y = ahead.y,
            .dy = random_of(c.type, ahead.y.size()),
            .log_sums = ahead.log_sums,
            .dqkv = random_of(c.type, ahead.qkv.size())};
  }

  AttentionBackward with_other_results(AttentionBackward op) {
    op.dqkv = zeros_of(op.dqkv.dtype(), op.dqkv.size());
    return op;
  }

  static constexpr AttentionCase kSmall{{.batch = 2, .positions = 3, .heads = 2, .head_width = 5}};
};

class AttentionOf : public Attention, public ::testing::WithParamInterface<AttentionCase> {};

TEST_P(AttentionOf, Forward_AgreesWithNaive) {
  const AttentionForward op = forward(GetParam());
  const AttentionForward expected = with_other_results(op);
  run(op);
  naive(expected);
  expect_near_normwise(op.y, expected.y, 2e-6);
  expect_near(op.log_sums, expected.log_sums, 2e-6);
}

TEST_P(AttentionOf, Backward_AgreesWithNaive) {
  const AttentionBackward op = backward(GetParam());
  const AttentionBackward expected = with_other_results(op);
  run(op);
  naive(expected);
  expect_near_normwise(op.dqkv, expected.dqkv, 5e-6);
}

TEST_P(AttentionOf, Again_GivesTheSameBits) {
  const AttentionForward ahead = forward(GetParam());
  const AttentionForward ahead_again = with_other_results(ahead);
  const AttentionBackward back = backward(GetParam());
  const AttentionBackward back_again = with_other_results(back);
  run(ahead);
  run(ahead_again);
  run(back);
  run(back_again);
  expect_same_bits(ahead.y, ahead_again.y);
  expect_same_bits(ahead.log_sums, ahead_again.log_sums);
  expect_same_bits(back.dqkv, back_again.dqkv);
}

// One position, and one, two and more blocks of queries, whole and not.
std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> all;
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1}, AttentionShape{2, 3, 2, 5}, AttentionShape{3, 17, 1, 16},
        AttentionShape{1, 64, 3, 64}, AttentionShape{1, 128, 1, 8}, AttentionShape{2, 129, 2, 33},
        AttentionShape{1, 300, 2, 16}}) {
    all.push_back({shape, DType::kFloat32});
    all.push_back({shape, DType::kBFloat16});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionOf, ::testing::ValuesIn(attention_cases()));

// Two positions, one head of one element: the second query's scores are 0 and log(3).
TEST_F(Attention, OfKnownScores_WeighsTheValues) {
  const float log3 = std::log(3.0F);
  const AttentionForward op{.shape = {.batch = 1, .positions = 2, .heads = 1, .head_width = 1},
                            .qkv = filled({5, 0, 8, 1, log3, 16}),
                            .y = zeros(2),
                            .log_sums = zeros(2)};
  const AttentionForward plain = with_other_results(op);
  run(op);
  naive(plain);
  for (const AttentionForward& done : {op, plain}) {
    expect_near(done.y.as<float>(), filled({8, 14}), 2e-6);
    expect_near(done.log_sums, filled({0, std::log(4.0F)}), 1e-6);
  }
}

// Scores are divided by the root of the head's width: here 4 * 1 * 1 / 2.
TEST_F(Attention, OfWideHeads_ScalesTheScores) {
  const std::vector<float> ones(12, 1);
  const AttentionForward op{.shape = {.batch = 1, .positions = 1, .heads = 1, .head_width = 4},
                            .qkv = filled(ones),
                            .y = zeros(4),
                            .log_sums = zeros(1)};
  run(op);
  expect_near(op.log_sums, filled({2}), 1e-6);
}

TEST_F(Attention, OfAnEarlierPosition_DoesNotSeeLaterOnes) {
  const AttentionShape shape{.batch = 1, .positions = 200, .heads = 1, .head_width = 8};
  const AttentionForward op = forward({shape});
  AttentionForward changed = with_other_results(op);
  const Span<float> qkv = copy_of(op.qkv.as<const float>());
  constexpr std::int64_t kChanged = 150;
  for (std::int64_t i = kChanged * 24; i < qkv.size(); ++i) qkv.data()[i] += 1;
  changed.qkv = qkv;
  run(op);
  run(changed);
  expect_same_bits(op.y.subspan(0, kChanged * 8), changed.y.subspan(0, kChanged * 8));
  EXPECT_NE(op.y.as<float>().data()[kChanged * 8], changed.y.as<float>().data()[kChanged * 8]);
}

// Their exponentials would overflow; the last key alone is seen.
TEST_F(Attention, OfHugeScores_StaysFinite) {
  const AttentionForward op{.shape = {.batch = 1, .positions = 2, .heads = 1, .head_width = 1},
                            .qkv = filled({100, -100, 3, 100, 100, 7}),
                            .y = zeros(2),
                            .log_sums = zeros(2)};
  run(op);
  expect_equal(op.y.as<float>(), filled({3, 7}));
  expect_equal(op.log_sums, filled({-10000, 10000}));
}

// The scratch memory of the first has been outgrown, and the operations are gone, when they run.
TEST_F(Attention, OutlivedByItsWork_StaysIntact) {
  const AttentionForward small = forward(kSmall);
  const AttentionForward large =
      forward({{.batch = 1, .positions = 150, .heads = 1, .head_width = 4}});
  auto short_lived = make_operations(device());
  short_lived->enqueue(stream(), small);
  short_lived->enqueue(stream(), large);
  short_lived.reset();
  stream().synchronize();
  for (const AttentionForward& op : {small, large}) {
    const AttentionForward expected = with_other_results(op);
    naive(expected);
    expect_near_normwise(op.y, expected.y, 2e-6);
  }
}

TEST_F(Attention, OfOperandsThatDoNotFit_NamesThem) {
  const AttentionForward fits = forward(kSmall);
  const auto refused = [&](auto change) {
    AttentionForward op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.shape.heads = 0; }), HasSubstr("0 heads of 5"));
  EXPECT_THAT(refused([&](auto& op) { op.qkv = zeros(60); }), HasSubstr("qkv has 60"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros(61); }), HasSubstr("y has 61"));
  EXPECT_THAT(refused([&](auto& op) { op.log_sums = zeros(6); }), HasSubstr("log_sums has 6"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros_of(DType::kBFloat16, 60); }),
              HasSubstr("y is bf16"));
  EXPECT_THAT(refused([&](auto& op) { op.qkv = zeros_of(DType::kFloat16, 180); }),
              HasSubstr("qkv is fp16"));
  EXPECT_THAT(refused([&](auto& op) { op.qkv = zeros(180, 1); }), HasSubstr("host:1"));
}

TEST_F(Attention, BackwardOfOperandsThatDoNotFit_NamesThem) {
  const AttentionBackward fits = backward(kSmall);
  const auto refused = [&](auto change) {
    AttentionBackward op = fits;
    change(op);
    return refusal_of(op);
  };
  EXPECT_THAT(refused([&](auto& op) { op.qkv = zeros(60); }), HasSubstr("qkv has 60"));
  EXPECT_THAT(refused([&](auto& op) { op.y = zeros(61); }), HasSubstr("y has 61"));
  EXPECT_THAT(refused([&](auto& op) { op.dy = zeros(61); }), HasSubstr("dy has 61"));
  EXPECT_THAT(refused([&](auto& op) { op.log_sums = zeros(6); }), HasSubstr("log_sums has 6"));
  EXPECT_THAT(refused([&](auto& op) { op.dqkv = zeros(60); }), HasSubstr("dqkv has 60"));
  EXPECT_THAT(refused([&](auto& op) { op.dy = zeros_of(DType::kBFloat16, 60); }),
              HasSubstr("dy is bf16"));
  EXPECT_THAT(refused([&](auto& op) { op.dqkv = zeros_of(DType::kBFloat16, 180); }),
              HasSubstr("dqkv is bf16"));
  EXPECT_THAT(refused([&](auto& op) { op.dqkv = zeros(180, 1); }), HasSubstr("host:1"));
}

}  // namespace
}  // namespace tandem
