// SPDX-License-Identifier: Apache-2.0
#include "common/options/reference.h"

#include <gtest/gtest.h>

namespace tandem::options {
namespace {

TEST(Reference, HelpNamesStrategiesAndAnExample) {
  EXPECT_EQ(help_of("threads"), "dp: the replicas' threads, spawned in every step (torch) or kept");
  EXPECT_TRUE(help_of("device-ids").ends_with(" (such as 1,0)"));
  EXPECT_EQ(help_of("p2p").substr(0, 5), "cuda:");
}

}  // namespace
}  // namespace tandem::options
