// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/check.h"

namespace tandem {
namespace {

TEST(Error, UsageExitsWithTwo_AllElseWithOne) {
  EXPECT_EQ(Error(ErrorKind::kUsage, "").exit_code(), 2);
  for (const ErrorKind kind : {ErrorKind::kFailure, ErrorKind::kOutOfMemory,
                               ErrorKind::kCommunication, ErrorKind::kLogic}) {
    EXPECT_EQ(Error(kind, "").exit_code(), 1);
  }
}

TEST(Fail, ThrowsTheKindAndTheFormattedText) {
  try {
    fail(ErrorKind::kOutOfMemory, "{} of {}", 3, "four");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_STREQ(error.what(), "3 of four");
  }
}

TEST(Check, PassesSilently) { EXPECT_NO_THROW(TANDEM_CHECK(1 < 2, "never shown")); }

TEST(Check, NamesPlaceConditionAndContext) {
  const int count = -1;
  try {
    TANDEM_CHECK(count >= 0, "count is {}", count);
    ADD_FAILURE() << "the check passed";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kLogic);
    EXPECT_NE(text.find("error_test.cc:"), std::string::npos) << text;
    EXPECT_NE(text.find("count >= 0 does not hold: count is -1"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tandem
