// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "dp/devices.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using dp::imbalance_warning;

std::vector<int> named(const std::vector<int>& ids) {
  const auto platform = host_devices(3);
  std::vector<int> found;
  for (const Device* const device : dp::devices_named(*platform, {.device_ids = ids})) {
    found.push_back(device->id().index);
  }
  return found;
}

TEST(DeviceIdsTest, AreKeptInTheirOrder_AllByDefault) {
  EXPECT_EQ(named({2, 0, 1}), (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(named({1}), (std::vector<int>{1}));
  EXPECT_EQ(named({}), (std::vector<int>{0, 1, 2}));
}

TEST(DeviceIdsTest, UnknownOrRepeatedOnes_AreUsageErrors) {
  const Error unknown = error_of([] { static_cast<void>(named({0, 3})); });
  EXPECT_EQ(unknown.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(unknown, "there is no device 3: use 0 to 2"));
  const Error twice = error_of([] { static_cast<void>(named({1, 0, 1})); });
  EXPECT_EQ(twice.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(twice, "device 1 is named twice"));
}

TEST(ImbalanceTest, ThreeQuarters_IsBalanced) {
  EXPECT_FALSE(imbalance_warning({{0, gib(16), 80}, {1, gib(12), 60}}));
  EXPECT_FALSE(imbalance_warning({{0, gib(16), 80}}));
}

TEST(ImbalanceTest, LessMemory_IsWarnedOf_WeakAndStrongNamed) {
  const auto warning = imbalance_warning({{0, gib(11), 80}, {1, gib(16), 80}, {2, gib(14), 80}});
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("device 0 has less than 75 % of the memory of device 1"),
            std::string::npos);
}

TEST(ImbalanceTest, FewerMultiprocessors_AreWarnedOf_WhereMemoryIsBalanced) {
  const auto warning = imbalance_warning({{0, gib(16), 80}, {1, gib(16), 59}});
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("device 1 has less than 75 % of the multiprocessors of device 0"),
            std::string::npos);
}

TEST(ImbalanceTest, Memory_IsLookedAtFirst_AndAlone) {
  const auto warning = imbalance_warning({{0, gib(8), 80}, {1, gib(16), 20}});
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("memory"), std::string::npos);
  EXPECT_EQ(warning->find("multiprocessors"), std::string::npos);
}

}  // namespace
}  // namespace tandem::test
