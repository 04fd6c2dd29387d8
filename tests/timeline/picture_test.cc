// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/base/error.h"
#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refused(const Trace& trace, int step) {
  try {
    static_cast<void>(to_svg(trace, step));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

// 160 ns on 824 pixels: 5.15 each.
TEST(Picture, PhasesLieWhereTheyRan) {
  const std::string svg = to_svg(two_ranks(), 1);
  EXPECT_THAT(svg, HasSubstr(R"(<rect x="120.00" y="56.00" width="103.00" height="28.00" )"
                             R"(fill="#7fa7c9"><title>forward: 0.000 ms</title>)"));
  EXPECT_THAT(svg, HasSubstr(R"(<rect x="223.00" y="56.00" width="257.50")"));  // rank 0's backward
  EXPECT_THAT(svg, HasSubstr(R"(width="412.00")"));                             // rank 1's
}

TEST(Picture, CollectivesAreWaitingAndTransfer) {
  const std::string svg = to_svg(two_ranks(), 1);
  // Rank 0 came 30 ns before rank 1 to a transfer of 50.
  EXPECT_THAT(svg, HasSubstr(R"svg(width="154.50" height="18.00" fill="url(#waiting)">)svg"
                             "<title>bucket 1 waits: 0.000 ms"));
  EXPECT_THAT(svg, HasSubstr(R"(width="257.50" height="18.00" fill="#1f6fd1"><title>bucket 1:)"));
}

TEST(Picture, LongestWaitsAreMarkedAndTold) {
  const std::string svg = to_svg(two_ranks(), 1);
  EXPECT_THAT(svg, HasSubstr(R"(<rect x="480.50" y="56.00" width="412.00" height="28.00" )"
                             R"(fill="none")"));
  EXPECT_THAT(svg, HasSubstr("A: 0.000 ms in exposed_comm: bucket 1 (1.0 MiB) was in transfer"));
}

TEST(Picture, ShortWaitsAreNotWorthAWord) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  trace.processes[0].tracks = {compute_track(0, 0, {{"forward", 1000}, {"idle", 1009}})};
  EXPECT_THAT(to_svg(trace, 1), HasSubstr("No device waited for 1 %"));
}

TEST(Picture, NamesAreText) {
  Trace trace = two_ranks();
  trace.facts["model"] = "<script>\"a\"&b";
  const std::string svg = to_svg(trace, 1);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&quot;a&quot;&amp;b"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(Picture, StepThatIsNotThere_IsRefused) {
  EXPECT_EQ(refused(two_ranks(), 7), "there is no step 7 in the trace, which holds 1 to 1");
  EXPECT_THAT(refused(Trace{}, 1), HasSubstr("no whole step"));
}

TEST(Picture, MedianStep_IsOfTheMiddleLength) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  Track track{.device = 0, .name = "compute"};
  int begin = 0;
  for (int step = 1; step <= 3; ++step) {
    const int length = step == 1 ? 20 : step * 5;  // 20, 10, 15
    for (Slice& one : compute_track(0, begin, {{"forward", begin + length}}).slices) {
      one.step = step;
      track.slices.push_back(one);
    }
    begin += length;
  }
  trace.processes[0].tracks = {track};
  EXPECT_EQ(median_step(trace), 3);
}

}  // namespace
}  // namespace tandem::timeline
