// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/benchmark_flags.h"

#include <gtest/gtest.h>

#include "common/base/error.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

BenchmarkFlags read(const std::vector<std::string>& flags, int ranks = 1) {
  return read_benchmark_flags("some_bench", flags, ranks);
}

TEST(NameFilter, FindsAnExtendedExpressionAnywhereInAName) {
  const NameFilter filter("dp/(threads|processes)/.*batch:8$");
  EXPECT_TRUE(filter.selects("ddp/processes/mlp-tiny/devices:2/batch:8"));
  EXPECT_FALSE(filter.selects("ddp/processes/mlp-tiny/devices:2/batch:80"));
}

TEST(NameFilter, WithAMinusLeavesOutWhatItFinds) {
  const NameFilter filter("-bytes:1024");
  EXPECT_FALSE(filter.selects("all_reduce/ranks:2/bytes:1024/fp32"));
  EXPECT_TRUE(filter.selects("all_reduce/ranks:2/bytes:4096/fp32"));
}

TEST(NameFilter, EmptyAndAllLeaveEverything) {
  for (const char* text : {"", "all"}) EXPECT_TRUE(NameFilter(text).selects("copy")) << text;
}

TEST(NameFilter, ThatIsNoExpressionIsAUsageError) {
  const Error error = test::error_of([] { static_cast<void>(NameFilter("[")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "'[' is no extended regular expression")) << error.what();
}

TEST(BenchmarkFlags, AreReadAsTheLibraryReadsThem) {
  const BenchmarkFlags flags =
      read({"--benchmark_list_tests", "--benchmark_repetitions=3", "--benchmark_format=json",
            "--benchmark_out_format=console", "--benchmark_time_unit=us", "--benchmark_color=true",
            "--benchmark_counters_tabular=false"});
  EXPECT_TRUE(flags.lists);
  EXPECT_EQ(flags.repetitions, 3);
  EXPECT_EQ(flags.display, BenchmarkFlags::Format::kJson);
  EXPECT_EQ(flags.out_format, BenchmarkFlags::Format::kConsole);
  EXPECT_EQ(flags.unit, benchmark::kMicrosecond);
  EXPECT_TRUE(flags.in_color);
  EXPECT_FALSE(flags.tabular);
}

TEST(BenchmarkFlags, OfTheOutputAreForTheRankThatReports) {
  const BenchmarkFlags flags =
      read({"--benchmark_out=a.json", "--benchmark_context=a=b", "--benchmark_repetitions=2"}, 4);
  EXPECT_EQ(flags.for_all, std::vector<std::string>{"--benchmark_repetitions=2"});
  EXPECT_EQ(flags.for_report,
            (std::vector<std::string>{"--benchmark_out=a.json", "--benchmark_context=a=b"}));
}

TEST(BenchmarkFlags, RandomInterleavingIsRefusedOfSeveralRanksWithTheReason) {
  const std::string flag = "--benchmark_enable_random_interleaving";
  for (const std::string& on : {flag, flag + "=true"}) {
    const Error error = test::error_of([&] { static_cast<void>(read({on}, 2)); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(test::mentions(error, "wait for them without end")) << error.what();
  }
  EXPECT_EQ(read({flag + "=false"}, 2).for_all.size(), 1U);
  EXPECT_EQ(read({flag}, 1).for_all.size(), 1U);
}

TEST(BenchmarkFlags, ThatCannotBeMetAreUsageErrors) {
  for (const char* flag :
       {"--benchmark_min_time=1", "--benchmark_perf_counters=CYCLES", "--benchmark_dry_run",
        "--benchmark_format=xml", "--benchmark_time_unit=h", "--benchmark_repetitions=0",
        "--benchmark_filter"}) {
    const Error error = test::error_of([&] { static_cast<void>(read({flag})); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(test::mentions(error, "benchmark_")) << error.what();
  }
}

TEST(BenchmarkFlags, ATimeIsTakenOutWithItsUnit) {
  std::vector<std::string> flags{"--benchmark_min_time=0.5", "--benchmark_list_tests"};
  EXPECT_EQ(take_duration(flags, "--benchmark_min_time", "--samples"), "0.5s");
  EXPECT_EQ(flags, std::vector<std::string>{"--benchmark_list_tests"});
  EXPECT_EQ(take_duration(flags, "--benchmark_min_time", "--samples"), std::nullopt);
  flags = {"--benchmark_min_time=2s"};
  EXPECT_EQ(take_duration(flags, "--benchmark_min_time", "--samples"), "2s");
}

TEST(BenchmarkFlags, ANumberOfIterationsIsNoTime) {
  std::vector<std::string> flags{"--benchmark_min_time=10x"};
  const Error error = test::error_of(
      [&] { static_cast<void>(take_duration(flags, "--benchmark_min_time", "--samples")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "is a number of iterations: use --samples")) << error.what();
}

}  // namespace
}  // namespace tandem::bench
