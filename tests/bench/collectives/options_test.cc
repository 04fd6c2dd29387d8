// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/options.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

CollectiveOptions parsed(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "collective_bench");
  return parse_collective_options(static_cast<int>(flags.size()), flags.data()).value();
}

std::vector<std::string> names(const CollectiveOptions& options) {
  std::vector<std::string> found;
  for (const CollectiveCase& measured : cases_of(options)) {
    found.push_back(name_of(measured, options.job.devices));
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(CollectiveOptions, Defaults_AreDdpsOwnCall) {
  const Names found = names(parsed({"--devices=2"}));
  ASSERT_EQ(found.size(), 17U);
  EXPECT_EQ(found.front(), "all_reduce/ranks:2/bytes:1024/fp32/in_place");
  EXPECT_EQ(found.back(), "all_reduce/ranks:2/bytes:67108864/fp32/in_place");
}

TEST(CollectiveOptions, ABackEndThatNeedsAnOptionNotHere_IsNoChoice) {
  const Error error = test::error_of([] { static_cast<void>(parsed({"--backend=simulated"})); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(), "--backend: 'simulated' is not known: use one of auto, host, cuda");
}

TEST(CollectiveOptions, CallsPerSample_AreNcclTestsOnGpus_UnlessTheyAreGiven) {
  EXPECT_EQ(calls_per_sample(parsed({"--devices=2"}), Backend::kHost), 1);
  EXPECT_EQ(calls_per_sample(parsed({"--devices=2"}), Backend::kCuda), 20);
  const CollectiveOptions given = parsed({"--devices=2", "--free-running=3"});
  EXPECT_EQ(calls_per_sample(given, Backend::kHost), 3);
  EXPECT_EQ(calls_per_sample(given, Backend::kCuda), 3);
}

TEST(CollectiveOptions, SizesSharedInBlocks_AreCutToAMultipleOfTheRanks) {
  const CollectiveOptions options = parsed(
      {"--devices=3", "--collective=all_reduce,gather", "--sizes=1KiB,1020B", "--in-place=on"});
  EXPECT_EQ(names(options), (Names{"all_reduce/ranks:3/bytes:1024/fp32/in_place",
                                   "all_reduce/ranks:3/bytes:1020/fp32/in_place",
                                   "gather/ranks:3/bytes:1020/fp32"}));
}

TEST(CollectiveOptions, BothForms_OfCollectivesThatHaveThem) {
  const CollectiveOptions options =
      parsed({"--devices=2", "--collective=gather,all_reduce", "--sizes=8B", "--in-place=both",
              "--dtype=fp16", "--op=sum"});
  EXPECT_EQ(names(options),
            (Names{"gather/ranks:2/bytes:8/fp16", "all_reduce/ranks:2/bytes:8/fp16/in_place/sum",
                   "all_reduce/ranks:2/bytes:8/fp16/out_of_place/sum"}));
}

TEST(CollectiveOptions, All_IsEveryCollectiveOnce) {
  EXPECT_EQ(parsed({"--devices=2", "--collective=gather,all"}).collectives.size(), 5U);
}

TEST(CollectiveOptions, LessThanAnElementPerRank_IsAUsageError) {
  const Error error = test::error_of([] {
    (void)parsed({"--devices=3", "--collective=all_reduce,scatter", "--sizes=8B"});
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "scatter: 8 B is less than one element of fp32 for each of 3"));
}

}  // namespace
}  // namespace tandem::bench
