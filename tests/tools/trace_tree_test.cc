// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/trace_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/render/formats.h"
#include "tests/timeline/samples.h"

namespace tandem::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Samples are from the last rank's start to the last rank's end; on clocks that are apart, the
// longest of the ranks' own.
TEST(TraceTree, TracedStepStandsBesideTheUntracedOne) {
  timeline::Trace trace = timeline::two_ranks();
  for (timeline::Process& process : trace.processes) {
    timeline::Track harness{.name = "harness"};
    harness.slices = {
        timeline::slice(timeline::SliceKind::kHarness, "sample", 10 * process.rank, 165)};
    harness.slices.front().step = 0;
    process.tracks.push_back(harness);
  }
  const auto text = [&] { return reports::to_terminal(tree_of(trace), {.columns = 200}); };
  EXPECT_THAT(text(), Not(HasSubstr("untraced")));
  trace.untraced = timeline::UntracedSamples{.samples = 7, .step = Seconds{150e-9}};
  EXPECT_THAT(text(), HasSubstr("one of the launch's 7 untraced samples 0.000 ms: 1.033 times.\n"));
  EXPECT_THAT(text(), Not(HasSubstr("apart")));
  trace.processes[1].host = "there";
  EXPECT_THAT(text(), HasSubstr(": 1.100 times. More than 5 % apart: the two passes differ"));
  trace.facts["cuda_times"] = "cupti";
  EXPECT_THAT(text(), HasSubstr("apart: CUPTI was attached, which makes each launch slower; or "));
}

TEST(TraceTree, TextNamesAll) {
  const std::string text = reports::to_terminal(tree_of(timeline::two_ranks()), {.columns = 200});
  for (const char* said : {"ddp as ?", "Critical path", "backward", "Longest waits",
                           "bucket 1 (1.0 MiB) was in transfer"}) {
    EXPECT_THAT(text, HasSubstr(said));
  }
}

}  // namespace
}  // namespace tandem::cli
