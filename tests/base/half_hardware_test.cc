// SPDX-License-Identifier: Apache-2.0
//
// Built where the compiler has the type itself.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "common/base/half.h"

namespace tandem {
namespace {

TEST(HalfHardware, Widening_EqualsTheCompilers) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(half.bits));
    const auto actual = static_cast<float>(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << bits;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(expected));
    }
  }
}

// A prime stride through all floats, so that exponents, ties and both signs are met.
TEST(HalfHardware, Narrowing_EqualsTheCompilers) {
  constexpr std::uint64_t kStride = 1009;
  for (std::uint64_t all = 0; all <= 0xffffffffU; all += kStride) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(all));
    if (std::isnan(value)) continue;  // the payload is nobody's business
    const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(Float16(value).bits, expected) << value;
  }
}

}  // namespace
}  // namespace tandem
