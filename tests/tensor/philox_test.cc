// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/tensor/random.h"

namespace tandem {
namespace {

// The known answers that come with the authors' own implementation, Random123.
TEST(Philox, OfZeros_IsTheKnownAnswer) {
  const PhiloxCounter expected{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), expected);
}

TEST(Philox, OfOnes_IsTheKnownAnswer) {
  const std::uint32_t ones = 0xffffffff;
  const PhiloxCounter expected{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}), expected);
}

TEST(Philox, OfTheDigitsOfPi_IsTheKnownAnswer) {
  const PhiloxCounter counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  const PhiloxCounter expected{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(philox4x32(counter, {0xa4093822, 0x299f31d0}), expected);
}

TEST(Philox, Element_IsAWordOfTheBlockThatItsIndexNames) {
  const std::uint64_t seed = 0x299f31d0a4093822;
  const std::uint64_t index = 4 * 0x85a308d3243f6a88 + 2;  // wraps, as counters do
  const std::uint64_t block = index / 4;
  const PhiloxCounter words =
      philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                 {0xa4093822, 0x299f31d0});
  EXPECT_EQ(random_bits(seed, index), words[2]);
}

}  // namespace
}  // namespace tandem
