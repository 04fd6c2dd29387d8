// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/driver/flag_values.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

using Sizes = std::vector<Bytes>;

TEST(SizeList, Range_Doubles) {
  EXPECT_EQ(parse_sizes("1KiB:8KiB", "--sizes"), (Sizes{kib(1), kib(2), kib(4), kib(8)}));
  EXPECT_EQ(parse_sizes("1KiB:64MiB", "--sizes").size(), 17U);
  EXPECT_EQ(parse_sizes("1KiB:1GiB", "--sizes").back(), gib(1));
}

TEST(SizeList, RangeWithFactor_EndsAtTheLastSizeWithinIt) {
  EXPECT_EQ(parse_sizes("1KiB:100KiB:8", "--sizes"), (Sizes{kib(1), kib(8), kib(64)}));
  EXPECT_EQ(parse_sizes("3B:3B", "--sizes"), (Sizes{Bytes{3}}));
}

TEST(SizeList, List_KeepsItsOrderAndNamesEachOnce) {
  EXPECT_EQ(parse_sizes("4MiB,1KiB:2KiB,1MB,2KiB", "--sizes"),
            (Sizes{mib(4), kib(1), kib(2), Bytes{1'000'000}}));
}

TEST(SizeList, LargestRange_DoesNotOverflow) {
  EXPECT_EQ(parse_sizes("1GiB:8000000000GiB", "--sizes").size(), 33U);
}

TEST(SizeList, WhatIsNoSize_IsAUsageError) {
  for (const char* text : {"", "12", "1KiB:", "1MiB:1KiB", "0B", "1KiB:1MiB:1", "1KiB:1MiB:x",
                           "1KiB:1MiB:2:3", "1KiB,,2KiB"}) {
    const Error error = test::error_of([&] { (void)parse_sizes(text, "--sizes"); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
    EXPECT_TRUE(test::mentions(error, "--sizes")) << text;
  }
}

}  // namespace
}  // namespace tandem::bench
