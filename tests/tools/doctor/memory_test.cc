// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_root.h"
#include "tests/tools/doctor/expect_finding.h"
#include "tools/tandem/doctor/limits.h"

namespace tandem::doctor {
namespace {

using test::FakeRoot;

constexpr double kGiB = 1 << 30;

TEST(DoctorMemory, IsJudgedByWhatIsLeft) {
  MemoryFacts facts{.total = 64 * kGiB, .available = 32 * kGiB};
  EXPECT_TRUE(finds(judge_memory(facts), Level::kOk, "memory", "32 GiB left of 64 GiB"));
  facts.available = 1.5 * kGiB;
  EXPECT_TRUE(finds(judge_memory(facts), Level::kWarning, "memory", "1.5 GiB left"));
  facts.available = 0.25 * kGiB;
  EXPECT_TRUE(finds(judge_memory(facts), Level::kProblem, "memory", "0.25 GiB left"));
}

TEST(DoctorMemory, OfAControlGroup_IsThatOfItsLimit) {
  const MemoryFacts facts{
      .total = 64 * kGiB, .available = 32 * kGiB, .limit = 4 * kGiB, .used = 3 * kGiB};
  EXPECT_TRUE(finds(judge_memory(facts), Level::kWarning, "memory", "limit of 4 GiB leaves 1 GiB"));
}

TEST(DoctorMemory, ThatIsSwappedOut_IsAWarning) {
  const MemoryFacts facts{.total = 64 * kGiB, .available = 32 * kGiB, .swapped = kGiB};
  EXPECT_TRUE(finds(judge_memory(facts), Level::kWarning, "swap", "1 GiB are swapped out"));
}

TEST(DoctorMemory, ThatIsNotTold_IsNotChecked) {
  FakeRoot node;
  EXPECT_TRUE(finds(judge_memory(gather_memory(node.root())), Level::kNotChecked, "memory",
                    "does not report it"));
}

TEST(DoctorMemory, IsReadWithoutTheCacheOfFiles) {
  FakeRoot node;
  node.write(
      "proc/meminfo",
      "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB");
  node.write("proc/self/cgroup", "0::/job");
  node.write("sys/fs/cgroup/job/memory.max", "3221225472");
  node.write("sys/fs/cgroup/job/memory.current", "2147483648");
  node.write("sys/fs/cgroup/job/memory.stat", "anon 5\ninactive_file 1073741824");
  const MemoryFacts facts = gather_memory(node.root());
  EXPECT_EQ(facts.total, 8 * kGiB);
  EXPECT_EQ(facts.available, 4 * kGiB);
  EXPECT_EQ(facts.swapped, 1024.0 * 1024);
  EXPECT_EQ(facts.limit, 3 * kGiB);
  EXPECT_EQ(facts.used, 1 * kGiB);
}

TEST(DoctorMemory, WithoutALimit_HasNone) {
  FakeRoot node;
  node.write("proc/meminfo", "MemAvailable: 4194304 kB");
  node.write("proc/self/cgroup", "4:memory:/job");
  node.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712");
  node.write("sys/fs/cgroup/memory/memory.max", "max");
  EXPECT_FALSE(gather_memory(node.root()).limit.has_value());
}

LimitFacts usual() {
  return {.shared_total = 8 * kGiB, .shared_free = 8 * kGiB, .locked = {}, .open_files = 1024};
}

TEST(DoctorLimits, OfAUsualNode_AreFine) {
  const Findings findings = judge_limits(usual());
  EXPECT_EQ(findings.size(), 3U);
  for (const Finding& finding : findings) EXPECT_EQ(finding.level, Level::kOk) << finding.what;
}

TEST(DoctorLimits, AContainersSharedMemory_HoldsNoModel) {
  LimitFacts facts = usual();
  facts.shared_total = facts.shared_free = 64 << 20;
  facts.container = "Docker";
  const Findings findings = judge_limits(facts);
  EXPECT_TRUE(finds(findings, Level::kProblem, "/dev/shm", "64 MiB free of 64 MiB"));
  EXPECT_NE(findings.front().advice.find("--shm-size"), std::string::npos);
  EXPECT_TRUE(finds(findings, Level::kOk, "container", "Docker"));
}

TEST(DoctorLimits, ThatAreLow_AreToldOf) {
  LimitFacts facts = usual();
  facts.shared_free = 0.5 * kGiB;
  facts.locked = 65536;
  facts.open_files = 256;
  const Findings findings = judge_limits(facts);
  EXPECT_TRUE(finds(findings, Level::kWarning, "/dev/shm", "512 MiB free"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "memlock", "0.0625 MiB"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "open files", "256 of a process"));
}

TEST(DoctorLimits, WithoutSharedMemory_ProcessesCannotRun) {
  FakeRoot node;
  EXPECT_TRUE(finds(judge_limits(gather_limits(node.root(), {})), Level::kProblem, "/dev/shm",
                    "there is none"));
}

TEST(DoctorLimits, AContainerIsKnownByItsMarks) {
  FakeRoot docker;
  docker.write(".dockerenv", "");
  EXPECT_EQ(gather_limits(docker.root(), {}).container, "Docker");
  FakeRoot podman;
  podman.write("run/.containerenv", "");
  EXPECT_EQ(gather_limits(podman.root(), {}).container, "Podman");
  FakeRoot bare;
  EXPECT_EQ(gather_limits(bare.root(), {{"APPTAINER_CONTAINER", "a.sif"}}).container, "Apptainer");
  EXPECT_EQ(gather_limits(bare.root(), {}).container, "");
}

TEST(DoctorSlurm, GrantsAreHeldAgainstWhatIsHere) {
  EXPECT_TRUE(finds(judge_slurm({}, 8, true), Level::kOk, "slurm", "no allocation"));
  const Variables job{{"SLURM_JOB_ID", "7"}, {"SLURM_CPUS_ON_NODE", "4"}};
  const Findings findings = judge_slurm(job, 8, true);
  EXPECT_TRUE(finds(findings, Level::kOk, "slurm", "job 7: 4 CPUs and no GPUs"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "slurm", "8 cores may be used here"));
  EXPECT_TRUE(finds(findings, Level::kWarning, "slurm", "the job was granted none"));
  const Variables whole{
      {"SLURM_JOB_ID", "7"}, {"SLURM_CPUS_ON_NODE", "8"}, {"SLURM_GPUS_ON_NODE", "2"}};
  EXPECT_EQ(judge_slurm(whole, 8, true).size(), 1U);
}

}  // namespace
}  // namespace tandem::doctor
