// SPDX-License-Identifier: Apache-2.0
//
// Operations on bf16 operands, beyond what the tests of both types hold.
#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "common/kernels/host_support.h"
#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class Bf16 : public TypedFixture {
 public:
  void SetUp() override {
    if (host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }

  Span<BFloat16> narrow(Span<const float> values) {
    return rounded(DType::kBFloat16, values).as<BFloat16>();
  }
};

// All 65536 of them: both zeros, infinities, NaN and what is too small to be normal.
TEST_F(Bf16, ReluBackward_EqualsNaiveForEveryValue) {
  constexpr std::int64_t kAll = 1 << 16;
  const Span<BFloat16> y = narrow(zeros(kAll));
  for (std::int64_t i = 0; i < kAll; ++i) y.data()[i].bits = static_cast<std::uint16_t>(i);
  const Span<float> gradient = random(kAll);
  const Span<BFloat16> actual = narrow(gradient);
  const Span<BFloat16> expected = narrow(gradient);
  run(ReluBackward{.y = y, .dy = actual});
  naive(ReluBackward{.y = y, .dy = expected});
  for (std::int64_t i = 0; i < kAll; ++i) {
    ASSERT_EQ(actual.data()[i].bits, expected.data()[i].bits) << "where y is " << i;
  }
}

// By hand: 1 + 2^-8 is half way between two numbers of the format, and goes to the even one; the
// sum itself is taken before it is rounded, or the two small terms would be lost one by one.
TEST_F(Bf16, Forward_RoundsTheSumOnce) {
  LinearForward op{.shape = {.batch = 2, .in = 3, .out = 1},
                   .x = narrow(filled({1, 0x1p-8F, 0, 1, 0x1p-8F, 0x1p-8F})),
                   .weight = narrow(filled({1, 1, 1})),
                   .y = narrow(zeros(2))};
  const std::vector<float> expected{1, 1 + 0x1p-7F};
  run(op);
  expect_equal(widened(op.y), filled(expected));
  op.y = narrow(zeros(2));
  naive(op);
  expect_equal(widened(op.y), filled(expected));
}

TEST_F(Bf16, TypesThatDoNotFit_AreNamed) {
  const LinearForward fits{.shape = {.batch = 2, .in = 4, .out = 2},
                           .x = narrow(zeros(8)),
                           .weight = narrow(zeros(8)),
                           .bias = narrow(zeros(2)),
                           .y = narrow(zeros(4))};
  LinearForward op = fits;
  op.weight = zeros(8);
  EXPECT_THAT(refusal_of(op), HasSubstr("weight is fp32 where bf16 is needed"));
  op = fits;
  op.bias = zeros(2);
  EXPECT_THAT(refusal_of(op), HasSubstr("bias is fp32"));
  op = fits;
  op.y = zeros(4);
  EXPECT_THAT(refusal_of(op), HasSubstr("y is fp32"));
  op = fits;
  op.x = Span<const Float16>(reinterpret_cast<const Float16*>(op.x.data()), 8, op.x.device());
  EXPECT_THAT(refusal_of(op), HasSubstr("x is fp16"));
  const ReluBackward relu{.y = narrow(zeros(4)), .dy = zeros(4)};
  EXPECT_THAT(refusal_of(relu), HasSubstr("dy is fp32"));
}

}  // namespace
}  // namespace tandem
