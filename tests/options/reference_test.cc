// SPDX-License-Identifier: Apache-2.0
#include "common/options/reference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tandem::options {
namespace {

TEST(Reference, HasARowForEachOption) {
  const std::string text = reference();
  for (const Option& option : kOptions) {
    EXPECT_NE(text.find(fmt::format("| `{}` |", Name(option).flag())), std::string::npos)
        << option.name;
  }
}

TEST(Reference, HelpNamesStrategiesAndAnExample) {
  EXPECT_EQ(help_of("threads"),
            "dp: the replicas' threads, spawned in every step (torch) or kept (such as kept)");
  EXPECT_EQ(help_of("p2p").substr(0, 5), "cuda:");
}

}  // namespace
}  // namespace tandem::options
