// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/stderr_reason.h"

#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

constexpr const char* kMpirunEnd =
    "--------------------------------------------------------------------------\n"
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "[node:01] 1 more process has sent help message help-mpi.txt / aborted\n"
    "[node:01] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all\n";

TEST(StderrReason, IsTheLastLine) {
  EXPECT_EQ(reason_in("noise\n  step_bench: no such model \n\n"), "step_bench: no such model");
  EXPECT_EQ(reason_in("no line end"), "no line end");
  EXPECT_EQ(reason_in(""), "");
}

TEST(StderrReason, MpirunsRemarks_ArePassedOver) {
  EXPECT_EQ(reason_in(std::string("step_bench: no such model\n") + kMpirunEnd),
            "step_bench: no such model");
}

TEST(StderrReason, MpirunAlone_IsBetterThanNothing) {
  EXPECT_EQ(reason_in(kMpirunEnd), "Primary job  terminated normally, but 1 process returned");
}

TEST(StderrReason, Tail_BeginsAtALine) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string tail = tail_of(text);
  EXPECT_LE(tail.size(), 4096U);
  EXPECT_TRUE(tail.starts_with("line "));
  EXPECT_TRUE(tail.ends_with("line 999\n"));
}

}  // namespace
}  // namespace tandem::cli
