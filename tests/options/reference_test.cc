// SPDX-License-Identifier: Apache-2.0
#include "common/options/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tandem::options {
namespace {

TEST(Reference, IsThatOfTheTable) {
  std::ifstream file(TANDEM_SOURCE_FOLDER "/docs/options.md", std::ios::binary);
  std::ostringstream committed;
  committed << file.rdbuf();
  EXPECT_TRUE(committed.str() == reference())
      << "docs/options.md is stale: cmake --build build/release --target options_page, and commit "
         "it";
}

TEST(Reference, HelpNamesStrategiesAndAnExample) {
  EXPECT_EQ(help_of("threads"),
            "dp: the replicas' threads, spawned in every step (torch) or kept (such as kept)");
  EXPECT_EQ(help_of("p2p").substr(0, 5), "cuda:");
}

}  // namespace
}  // namespace tandem::options
