// SPDX-License-Identifier: Apache-2.0
#include "common/options/removed_names.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace tandem::options {
namespace {

TEST(RemovedNames, AWordOfItsCommand_IsAnsweredInOneLine) {
  EXPECT_EQ(removal_of("tandem report", "--merge"),
            "'tandem report --merge' was removed: use tandem run with the same --out and more "
            "--launches, which adds to the folder");
  EXPECT_EQ(removal_of("sweep", "ddp"), "'sweep ddp' was removed: use tandem run ddp-cost");
}

TEST(RemovedNames, TheSameWordElsewhere_IsNotRemoved) {
  EXPECT_EQ(removal_of("tandem run", "--merge"), "");
  EXPECT_EQ(removal_of("tandem", "ddp"), "");
  EXPECT_EQ(removal_of("", ""), "");
}

TEST(RemovedNames, AnOptionWithItsValue_IsTheOption) {
  EXPECT_NE(removal_of("tandem run", "--list=all"), "");
  EXPECT_EQ(removal_of("tandem run", "--listing"), "");
}

TEST(RemovedNames, Refusal_IsAUsageError) {
  const Error error = test::error_of([] { refuse_removed("sweep", "seeds"); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "tandem run common-questions"));
  EXPECT_NO_THROW(refuse_removed("sweep", "size"));
}

}  // namespace
}  // namespace tandem::options
