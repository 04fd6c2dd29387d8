// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"
#include "tests/tools/doctor/expect_finding.h"
#include "tools/tandem/doctor/peers.h"
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

results::GpuRecord gpu_with_peer(int device, int peer, std::optional<bool> access) {
  results::GpuRecord gpu;
  gpu.device = device;
  gpu.peers = {{.device = peer, .peer_access = access, .nvlinks = {}, .path = "host bridge"}};
  return gpu;
}

CopyRun copies_of(std::vector<CopySpeed> speeds) { return {done(), std::move(speeds)}; }

TEST(DoctorPeers, WithAccessAndEvenSpeeds_AreFine) {
  const Findings findings = judge_peers(
      {gpu_with_peer(0, 1, true), gpu_with_peer(1, 0, true)},
      copies_of({{"cuda:0", "cuda:1", 340}, {"cuda:1", "cuda:0", 350}, {"pinned", "cuda:0", 50}}));
  EXPECT_EQ(findings.size(), 3U);
  EXPECT_TRUE(finds(findings, Level::kOk, "peer access", "all 1 pairs"));
  EXPECT_TRUE(finds(findings, Level::kOk, "bandwidth", "between GPUs: 340.0 to 350.0 GB/s"));
  EXPECT_TRUE(finds(findings, Level::kOk, "bandwidth", "to GPUs: 50.0"));
}

TEST(DoctorPeers, WithoutAccess_AreToldOfOnce) {
  const Findings findings =
      judge_peers({gpu_with_peer(0, 1, false), gpu_with_peer(1, 0, false)}, copies_of({}));
  EXPECT_EQ(findings.size(), 1U);
  EXPECT_TRUE(finds(findings, Level::kWarning, "peer access",
                    "none between devices 0 and 1 (their paths meet at: host bridge)"));
  EXPECT_TRUE(finds(judge_peers({gpu_with_peer(0, 1, {}), gpu_with_peer(1, 0, {})}, copies_of({})),
                    Level::kNotChecked, "peer access", "does not tell"));
}

TEST(DoctorPeers, APairThatIsSlowerThanTheOthers_IsNamed) {
  EXPECT_TRUE(finds(judge_peers({}, copies_of({{"cuda:0", "cuda:1", 340},
                                               {"cuda:0", "cuda:2", 20},
                                               {"cuda:1", "cuda:2", 350},
                                               {"cuda:0", "cuda:0", 2000}})),
                    Level::kWarning, "bandwidth", "cuda:0 to cuda:2: 20.0 GB/s"));
}

TEST(DoctorPeers, SmallCopies_TellTheLatency_AndNoBandwidth) {
  const CopyRun copies = copies_of({{"cuda:0", "cuda:1", 0.0004, 9.5, 4},
                                    {"cuda:1", "cuda:0", 0.0004, 8.5, 4},
                                    {"cuda:0", "cuda:1", 200, 335, 64 << 20}});
  const Findings findings = judge_peers({}, copies);
  EXPECT_TRUE(finds(findings, Level::kOk, "latency", "of 4 B between GPUs: 8.5 to 9.5 us"));
  EXPECT_TRUE(finds(findings, Level::kOk, "bandwidth", "200.0 to 200.0 GB/s"));
}

TEST(DoctorPeers, CopiesThatArriveWrong_AreAProblem) {
  EXPECT_TRUE(finds(judge_peers({}, {run_of(End::kExited, "element 7 is 0 and not 3"), {}}),
                    Level::kProblem, "bandwidth", "element 7 is 0"));
}

TEST(DoctorPeers, SpeedsAreReadFromTheDocument) {
  const auto speeds = cli::parse_copies(R"({"context": {}, "benchmarks": [
      {"name": "copy/from:cuda:0/to:pinned/bytes:67108864", "GBps": 21.5, "p50_us": 3121.4},
      {"name": "copy/from:cuda:0/to:cuda:1/bytes:67108864", "error_occurred": true},
      {"name": "other", "GBps": 1}]})");
  EXPECT_EQ(speeds, (std::vector<CopySpeed>{{"cuda:0", "pinned", 21.5, 3121.4, 64 << 20}}));
  EXPECT_THROW(static_cast<void>(cli::parse_copies("[]")), Error);
  EXPECT_THROW(static_cast<void>(cli::parse_copies("")), Error);
}

}  // namespace
}  // namespace tandem::doctor
