// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ddp/horovod/controller.h"
#include "tests/support/errors.h"

namespace tandem::ddp::horovod {
namespace {

using test::error_of;
using Bits = std::vector<bool>;

TEST(CycleReport, OfOneRank_ComesBackAsItWas) {
  for (const std::size_t positions : {0U, 1U, 7U, 8U, 9U, 1024U}) {
    CycleReport report{.uncached = positions % 2 == 0, .shut_down = positions > 8};
    for (std::size_t i = 0; i < positions; ++i) report.hits.push_back(i % 3 == 0);
    EXPECT_EQ(combine({encode(report)}, positions), report);
  }
}

TEST(CycleReport, TakesABitPerCachedTensor) {
  EXPECT_EQ(encode(CycleReport{}).size(), 1U);
  EXPECT_EQ(encode(CycleReport{.hits = Bits(8)}).size(), 2U);
  EXPECT_EQ(encode(CycleReport{.hits = Bits(1024)}).size(), 129U);
}

TEST(CycleReport, Combined_HasTheHitsOfAll_AndTheFlagsOfAny) {
  const std::vector<std::string> reports{
      encode(CycleReport{.hits = {true, true, false}}),
      encode(CycleReport{.uncached = true, .hits = {true, false, false}}),
      encode(CycleReport{.shut_down = true, .hits = {true, true, true}})};
  EXPECT_EQ(combine(reports, 3),
            (CycleReport{.uncached = true, .shut_down = true, .hits = {true, false, false}}));
}

TEST(CycleReport, OnACacheOfAnotherSize_IsACommunicationError) {
  const std::string text = encode(CycleReport{.hits = Bits(8)});
  EXPECT_EQ(error_of([&] { static_cast<void>(combine({text}, 9)); }).kind(),
            ErrorKind::kCommunication);
}

TEST(Lists, ComeBackAsTheyWere) {
  const std::vector<Request> requests{{3, 400}, {0, std::int64_t{1} << 40}};
  EXPECT_EQ(decode(encode(requests)), requests);
  EXPECT_TRUE(decode("").empty());
}

TEST(Lists, CutShort_AreACommunicationError) {
  EXPECT_EQ(error_of([] { static_cast<void>(decode("12345678")); }).kind(),
            ErrorKind::kCommunication);
}

}  // namespace
}  // namespace tandem::ddp::horovod
