// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"
#include "tests/tools/doctor/expect_finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {
namespace {

using End = cli::ChildResult::End;

ProgramRun run_of(End end, const std::string& reason) {
  return {.result = {.end = end, .code = 1, .stderr_text = reason, .duration = Seconds{0.5}},
          .reason = reason};
}

ProgramRun done() { return {.result = {.end = End::kExited, .duration = Seconds{0.5}}}; }

TEST(DoctorRanks, ThatFindEachOther_AreFine) {
  const Findings findings = judge_ranks({done(), done()});
  EXPECT_TRUE(finds(findings, Level::kOk, "mpi", "2 ranks found each other"));
  EXPECT_TRUE(finds(findings, Level::kOk, "shared memory", "(0.5 s)"));
}

TEST(DoctorRanks, ThatEachTakeThemselvesForTheOnlyOne_AreIsolated) {
  const ProgramRun alone = run_of(
      End::kExited,
      "collective_bench: --devices=2 as processes needs a rank for each, but 1 rank was started");
  const Findings findings = judge_ranks({alone, {}});
  EXPECT_TRUE(finds(findings, Level::kProblem, "mpi", "ranks are isolated"));
  EXPECT_TRUE(finds(findings, Level::kNotChecked, "shared memory", "cannot be started"));
}

TEST(DoctorRanks, WithoutALauncher_CannotStart) {
  EXPECT_TRUE(finds(judge_ranks({run_of(End::kNotStarted, "No such file or directory"), {}}),
                    Level::kProblem, "mpi", "ddp cannot be started"));
}

TEST(DoctorRanks, ThatFailOrHang_SaySo) {
  EXPECT_TRUE(finds(judge_ranks({done(), run_of(End::kExited, "/dev/shm is full")}),
                    Level::kProblem, "shared memory", "/dev/shm is full"));
  EXPECT_TRUE(finds(judge_ranks({run_of(End::kTimedOut, "it did not end within 90 s"), {}}),
                    Level::kProblem, "mpi", "did not end"));
  EXPECT_TRUE(finds(judge_ranks({run_of(End::kInterrupted, ""), {}}), Level::kNotChecked, "mpi",
                    "interrupted"));
}

TEST(DoctorNccl, IsForTwoGpusOrMore) {
  EXPECT_TRUE(finds(judge_nccl({.devices = 1, .threads = {}, .processes = {}}), Level::kNotChecked,
                    "nccl", "two GPUs"));
}

TEST(DoctorNccl, IsJudgedInBothLaunches) {
  const Findings findings =
      judge_nccl({.devices = 4,
                  .threads = run_of(End::kExited, "NCCL could not use shared memory"),
                  .processes = done()});
  EXPECT_TRUE(finds(findings, Level::kOk, "nccl", "4 processes reduced over NCCL"));
  EXPECT_TRUE(finds(findings, Level::kProblem, "nccl", "could not use shared memory"));
}

}  // namespace
}  // namespace tandem::doctor
