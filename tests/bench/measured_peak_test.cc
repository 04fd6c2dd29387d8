// SPDX-License-Identifier: Apache-2.0
#include "bench/step/measured_peak.h"

#include <gtest/gtest.h>

#include "common/runtime/host/host_platform.h"

namespace tandem::bench {
namespace {

std::vector<ProductSpeed> products_within(Bytes memory) {
  PlatformOptions options;
  options.device_memory = {memory};
  const auto platform = host::make_host_platform(options);
  return measure_products(platform->device(0), Precision::kFp32);
}

TEST(MeasuredPeakTest, OfALittleMemory_IsThatOfTheSizesThatFit) {
  const std::vector<ProductSpeed> products = products_within(mib(20));
  ASSERT_EQ(products.size(), 1U);
  EXPECT_EQ(products[0].size, 512);
  EXPECT_GE(products[0].seconds.size(), 5U);
  EXPECT_GT(products[0].flops(), 0);
  EXPECT_EQ(peak_flops(products), products[0].flops());
}

TEST(MeasuredPeakTest, OfNoRoom_IsNone) {
  EXPECT_TRUE(products_within(mib(1)).empty());
  EXPECT_EQ(peak_flops({}), 0);
}

// By hand: 2 n^3 over the median time, the best over sizes.
TEST(MeasuredPeakTest, IsTheBestOfTheMedians) {
  const ProductSpeed slow{.size = 10, .seconds = {1, 2, 100}};
  const ProductSpeed fast{.size = 20, .seconds = {4, 1, 2}};
  EXPECT_DOUBLE_EQ(slow.flops(), 2000.0 / 2);
  EXPECT_DOUBLE_EQ(peak_flops({slow, fast, slow}), 16000.0 / 2);
}

}  // namespace
}  // namespace tandem::bench
