// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/cores.h"

#include "tests/support/fake_root.h"
#include "tests/tools/doctor/expect_finding.h"

namespace tandem::doctor {
namespace {

using test::FakeRoot;

CoreFacts whole_node() {
  return {.model = "A CPU", .online = 4, .allowed = {0, 1, 2, 3}, .cores = 2, .quota = {}};
}

TEST(DoctorCores, OfAWholeNode_AreFine) {
  const Findings findings = judge_cores(whole_node());
  EXPECT_TRUE(finds(findings, Level::kOk, "cores", "2 cores (4 hardware threads) of A CPU"));
  EXPECT_TRUE(finds(findings, Level::kOk, "binding", "all hardware threads"));
  EXPECT_TRUE(finds(findings, Level::kOk, "cpu quota", "none"));
}

TEST(DoctorCores, OneAlone_ComparesNothing) {
  CoreFacts facts = whole_node();
  facts.cores = 1;
  EXPECT_TRUE(finds(judge_cores(facts), Level::kWarning, "cores", "host devices are cores"));
}

TEST(DoctorCores, FewerThanTheMachineHas_AreToldOf) {
  CoreFacts facts = whole_node();
  facts.allowed = {2};
  EXPECT_TRUE(
      finds(judge_cores(facts), Level::kWarning, "binding", "may use 1 of 4 hardware threads"));
}

TEST(DoctorCores, AQuotaBelowThem_StopsThreadsWithinSteps) {
  CoreFacts facts = whole_node();
  facts.quota = 1.5;
  facts.throttled = 7;
  EXPECT_TRUE(finds(judge_cores(facts), Level::kProblem, "cpu quota",
                    "1.5 cores' worth of time for 4 hardware threads"));
  EXPECT_TRUE(finds(judge_cores(facts), Level::kProblem, "cpu quota", "7 times so far"));
  facts.quota = 4;
  EXPECT_TRUE(finds(judge_cores(facts), Level::kOk, "cpu quota", "4 cores' worth"));
}

TEST(DoctorCores, ThatAreNotTold_AreNotChecked) {
  EXPECT_TRUE(finds(judge_cores({}), Level::kNotChecked, "cores", "does not say"));
  CoreFacts facts = whole_node();
  facts.online = 0;
  EXPECT_TRUE(finds(judge_cores(facts), Level::kNotChecked, "binding", "does not say"));
}

TEST(DoctorCores, AreReadWithTheTightestQuotaOfAllGroups) {
  FakeRoot node;
  node.write("proc/cpuinfo", "model name\t: An Old CPU");
  node.write("sys/devices/system/cpu/online", "0-2,7");
  node.write("proc/self/cgroup", "0::/a/b");
  node.write("sys/fs/cgroup/a/cpu.max", "150000 100000");
  node.write("sys/fs/cgroup/a/cpu.stat", "nr_periods 9\nnr_throttled 3");
  node.write("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  const CoreFacts facts = gather_cores(node.root(), {0, 1});
  EXPECT_EQ(facts.model, "An Old CPU");
  EXPECT_EQ(facts.online, 4);
  EXPECT_EQ(facts.cores, 2);
  EXPECT_EQ(facts.quota, 1.5);
  EXPECT_EQ(facts.throttled, 3);
}

TEST(DoctorCores, QuotasOfVersionOne_AreReadToo) {
  FakeRoot node;
  node.write("proc/self/cgroup", "3:cpuset:/x\n2:cpu,cpuacct:/job");
  node.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000");
  node.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
  node.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(gather_cores(node.root(), {0}).quota, 0.5);
}

TEST(DoctorFrequency, OfGovernorPerformance_IsFine) {
  FakeRoot node;
  for (const char* cpu : {"cpu0", "cpu1"}) {
    node.write(std::string("sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_governor",
               "performance");
  }
  EXPECT_TRUE(finds(judge_frequency(gather_frequency(node.root(), {0, 1})), Level::kOk, "frequency",
                    "performance"));
}

TEST(DoctorFrequency, OfAnotherGovernor_IsAWarning) {
  EXPECT_TRUE(finds(judge_frequency({.governors = {{"performance", 3}, {"powersave", 1}}}),
                    Level::kWarning, "frequency", "performance on 3, powersave on 1"));
}

TEST(DoctorFrequency, ThatIsNotTold_IsNotChecked) {
  FakeRoot node;
  EXPECT_TRUE(finds(judge_frequency(gather_frequency(node.root(), {0})), Level::kNotChecked,
                    "frequency", "does not report its governor"));
}

}  // namespace
}  // namespace tandem::doctor
