// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/option_rules.h"

#include <gtest/gtest.h>

#include <array>

#include "bench/step/option_owners.h"

// Of the programs' options, which link much more than these tests need.
std::string tandem::bench::to_string(StrategyKind kind) {
  constexpr std::array kNames{"single",       "independent", "dp",
                              "dp-allreduce", "ddp",         "ddp-replicate"};
  return kNames.at(static_cast<std::size_t>(kind));
}

namespace tandem::cli {
namespace {

constexpr std::array kKinds{bench::StrategyKind::kSingle, bench::StrategyKind::kIndependent,
                            bench::StrategyKind::kDp,     bench::StrategyKind::kDpAllReduce,
                            bench::StrategyKind::kDdp,    bench::StrategyKind::kDdpReplicate};

// p2p excepted, which step_bench takes everywhere and which means nothing to those that copy
// nothing.
TEST(OptionRules, AreThoseOfStepBench) {
  for (const std::string_view option : sweep_options()) {
    if (option == "p2p") continue;
    for (const bench::StrategyKind kind : kKinds) {
      EXPECT_EQ(has_option(to_string(kind), option), bench::has_option(kind, std::string(option)))
          << option << " of " << to_string(kind);
    }
  }
}

TEST(OptionRules, NameTheOwners) {
  EXPECT_EQ(owners_of("join"), "ddp");
  EXPECT_EQ(owners_of("seed"), "every strategy");
}

}  // namespace
}  // namespace tandem::cli
