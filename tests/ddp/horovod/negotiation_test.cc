// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ddp/horovod/controller.h"
#include "tests/support/errors.h"

namespace tandem::ddp::horovod {
namespace {

using Completed = std::vector<Request>;
using test::error_of;
using test::mentions;

TEST(Negotiation, Tensor_IsCompleteOnceAllRanksReportedIt) {
  Negotiation negotiation(3);
  negotiation.report(2, {7, 40});
  negotiation.report(0, {7, 40});
  EXPECT_EQ(negotiation.take_complete(), Completed{});
  negotiation.report(1, {7, 40});
  EXPECT_EQ(negotiation.take_complete(), (Completed{{7, 40}}));
  EXPECT_EQ(negotiation.take_complete(), Completed{});
}

TEST(Negotiation, CompleteTensors_ComeInTheOrderInWhichTheLastRankReported) {
  Negotiation negotiation(2);
  for (const std::int64_t tensor : {1, 2, 3}) negotiation.report(0, {tensor, 4});
  for (const std::int64_t tensor : {3, 1, 2}) negotiation.report(1, {tensor, 4});
  EXPECT_EQ(negotiation.take_complete(), (Completed{{3, 4}, {1, 4}, {2, 4}}));
}

TEST(Negotiation, OfOneRank_IsCompleteAtOnce) {
  Negotiation negotiation(1);
  negotiation.report(0, {5, 4});
  EXPECT_EQ(negotiation.take_complete(), (Completed{{5, 4}}));
}

TEST(Negotiation, TakenTensor_MayBeReportedAnew) {
  Negotiation negotiation(1);
  negotiation.report(0, {5, 4});
  EXPECT_EQ(negotiation.take_complete(), (Completed{{5, 4}}));
  negotiation.report(0, {5, 4});
  EXPECT_EQ(negotiation.take_complete(), (Completed{{5, 4}}));
}

TEST(Negotiation, RanksThatDifferInSize_AreNamed) {
  Negotiation negotiation(3);
  negotiation.report(1, {5, 400});
  const Error error = error_of([&] { negotiation.report(2, {5, 800}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  EXPECT_TRUE(mentions(error, "400 bytes on rank 1 and 800 on rank 2")) << error.what();
}

TEST(Negotiation, ReportedTwiceByARank_IsALogicError) {
  Negotiation negotiation(2);
  negotiation.report(1, {5, 4});
  EXPECT_EQ(error_of([&] { negotiation.report(1, {5, 4}); }).kind(), ErrorKind::kLogic);
  EXPECT_EQ(error_of([&] { negotiation.report(2, {5, 4}); }).kind(), ErrorKind::kLogic);
}

}  // namespace
}  // namespace tandem::ddp::horovod
