// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include "common/base/system_files.h"
#include "tests/support/fake_root.h"
#include "tests/tools/doctor/expect_finding.h"
#include "tools/tandem/doctor/cores.h"

namespace tandem::doctor {
namespace {

using test::FakeRoot;

NeighbourFacts facts_of(double lost, double longest, std::optional<double> stolen) {
  return {.cores = {{.cpu = 0}, {.cpu = 5, .lost = lost, .longest = longest}},
          .seconds = 1,
          .stolen = stolen};
}

TEST(DoctorNeighbours, ThatAreQuiet_AreFine) {
  const Findings findings = judge_neighbours(facts_of(0.002, 0.001, 0.0));
  EXPECT_TRUE(finds(findings, Level::kOk, "neighbours", "(CPU 5) lost 0.20 % of its time"));
  EXPECT_TRUE(finds(findings, Level::kOk, "steal time", "0.0 %"));
}

TEST(DoctorNeighbours, ThatTakeAPercent_AreAWarning_AndATenth_AProblem) {
  EXPECT_TRUE(
      finds(judge_neighbours(facts_of(0.02, 0, 0.0)), Level::kWarning, "neighbours", "2.00 %"));
  EXPECT_TRUE(
      finds(judge_neighbours(facts_of(0.5, 0, 0.0)), Level::kProblem, "neighbours", "50.00 %"));
}

TEST(DoctorNeighbours, ALongGap_IsAWarning) {
  EXPECT_TRUE(finds(judge_neighbours(facts_of(0.006, 0.006, 0.0)), Level::kWarning, "neighbours",
                    "longest gap took 6.00 ms (CPU 5)"));
}

TEST(DoctorNeighbours, StolenTime_IsToldApart) {
  EXPECT_TRUE(
      finds(judge_neighbours(facts_of(0, 0, 0.02)), Level::kWarning, "steal time", "2.0 %"));
  EXPECT_TRUE(
      finds(judge_neighbours(facts_of(0, 0, 0.1)), Level::kProblem, "steal time", "10.0 %"));
  EXPECT_TRUE(
      finds(judge_neighbours(facts_of(0, 0, {})), Level::kNotChecked, "steal time", "stat"));
}

TEST(DoctorNeighbours, WithoutACore_AreNotChecked) {
  EXPECT_TRUE(finds(judge_neighbours({}), Level::kNotChecked, "neighbours", "no core"));
}

TEST(DoctorNeighbours, OneThreadOfEachCoreIsWatched) {
  FakeRoot node;
  for (const char* cpu : {"cpu0", "cpu2"}) {
    node.write(std::string("sys/devices/system/cpu/") + cpu + "/topology/thread_siblings_list",
               "0,2");
  }
  node.write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,3");
  EXPECT_EQ(one_thread_per_core(node.root(), {0, 1, 2}), (std::vector<int>{0, 1}));
}

TEST(DoctorNeighbours, AreWatchedOnTheCoresThatAreGiven) {
  const std::vector<int> allowed = allowed_cpus();
  const NeighbourFacts facts = watch_neighbours(allowed, std::chrono::milliseconds(20));
  ASSERT_EQ(facts.cores.size(), allowed.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    EXPECT_EQ(facts.cores[i].cpu, allowed[i]);
    EXPECT_GE(facts.cores[i].lost, 0);
    EXPECT_LE(facts.cores[i].lost, 1);
  }
  EXPECT_EQ(watch_neighbours({CPU_SETSIZE - 1}, std::chrono::milliseconds(1)).cores.size(), 0U);
}

}  // namespace
}  // namespace tandem::doctor
