// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "simulate/cost/link.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::microseconds;

TEST(ParseLinkTest, Literal_IsLatencyAndDecimalBandwidth) {
  const LinkRequest request = parse_link("20us:1.5GBps");
  EXPECT_EQ(request.text, "20us:1.5GBps");
  EXPECT_EQ(request.link, (LinkModel{.latency = microseconds(20), .bytes_per_second = 1.5e9}));
}

TEST(ParseLinkTest, Bandwidth_TakesItsDecimalUnits) {
  EXPECT_EQ(parse_link("0s:2KBps").link.bytes_per_second, 2e3);
  EXPECT_EQ(parse_link("0s:2MBps").link.bytes_per_second, 2e6);
  EXPECT_EQ(parse_link("0s:2GBps").link.bytes_per_second, 2e9);
  EXPECT_EQ(parse_link("0s:2TBps").link.bytes_per_second, 2e12);
}

// What is refused, and a word that the message must hold.
struct Refused {
  const char* text;
  const char* word;
};
class RefusedLinkTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedLinkTest, IsAUsageErrorThatNamesWhatIsWrong) {
  const Error error = error_of([] { static_cast<void>(parse_link(GetParam().text)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--link")) << error.what();
  EXPECT_TRUE(mentions(error, GetParam().word)) << error.what();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RefusedLinkTest,
    testing::Values(Refused{"", "LATENCY:BANDWIDTH"}, Refused{"1GBps", "LATENCY:BANDWIDTH"},
                    Refused{"20:1GBps", "'20' is no duration"}, Refused{"20us:", "is no bandwidth"},
                    Refused{"20us:1", "'1' is no bandwidth"}, Refused{"20us:0GBps", "above 0"},
                    Refused{"20us:-1GBps", "above 0"}, Refused{"20us:1GiBps", "GBps"},
                    Refused{"20us:infGBps", "no bandwidth"},
                    Refused{"pcie4@a100-fp32", "LATENCY:BANDWIDTH"}));

}  // namespace
}  // namespace tandem::test
