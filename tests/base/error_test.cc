// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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

std::string cause_among(const std::vector<std::optional<Error>>& errors) {
  const auto error = capture_error([&] { throw_cause(errors); });
  return error ? error->what() : "";
}

TEST(ThrowCause, IsWhatTheOthersFollowFrom) {
  using Kind = PeerFailure::Kind;
  const auto between = [](Kind kind, const char* text) {
    return std::optional(Error(PeerFailure{.kind = kind}, text));
  };
  const auto aborted = between(Kind::kAborted, "the communicator was aborted");
  const auto lost = between(Kind::kLost, "a connection broke");
  const auto waited = between(Kind::kWaited, "waited in vain");
  const auto diverged = between(Kind::kDiverged, "different collectives");
  const std::optional<Error> own(Error(ErrorKind::kFailure, "a bad weight"));
  EXPECT_EQ(cause_among({std::nullopt, aborted, lost, waited, diverged, own}), "a bad weight");
  EXPECT_EQ(cause_among({aborted, lost, waited, diverged}), "different collectives");
  EXPECT_EQ(cause_among({aborted, lost, waited}), "waited in vain");
  EXPECT_EQ(cause_among({aborted, lost}), "a connection broke");
  EXPECT_EQ(cause_among({aborted}), "the communicator was aborted");
  EXPECT_EQ(cause_among({std::nullopt}), "");
}

TEST(CaptureError, KeepsWhatCameBetweenRanks) {
  const PeerFailure failure{.kind = PeerFailure::Kind::kWaited,
                            .awaited = {2},
                            .waited = std::chrono::seconds(3),
                            .call = "all_reduce",
                            .sequence = 7};
  const auto error = capture_error([&] { fail(failure, "rank {} is late", 2); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kCommunication);
  const Error again = error->reworded("in words of another").of_all_ranks();
  EXPECT_STREQ(again.what(), "in words of another");
  EXPECT_EQ(again.reach(), Error::Reach::kAllRanks);
  EXPECT_EQ(again.peer_failure().awaited, std::vector<int>{2});
  EXPECT_EQ(again.peer_failure().call, "all_reduce");
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
