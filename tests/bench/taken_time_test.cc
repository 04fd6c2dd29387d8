// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/taken_time.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_root.h"

namespace tandem::bench {
namespace {

using test::FakeRoot;

// A thread on its CPUs: nanoseconds that it ran and waited.
void write_thread(FakeRoot& node, const std::string& number, const std::string& cpus,
                  const std::string& ran, const std::string& waited) {
  const std::string task = "proc/self/task/" + number;
  node.write(task + "/schedstat", ran + " " + waited + " 17");
  node.write(task + "/status", "Name:\tstep_bench\nCpus_allowed_list:\t" + cpus);
}

TEST(KernelCounters, AreReadFromTheSystemsFiles) {
  FakeRoot node;
  write_thread(node, "41", "0", "2000000000", "500000000");
  write_thread(node, "42", "0-1", "1000000000", "0");
  node.write("proc/stat", "cpu 9 9 9 9 9 9 9 9\ncpu0 100 0 50 7 7 0 0 30\ncpu1 10 0 0 9 9 0 0 0");
  node.write("proc/self/cgroup", "0::/job");
  node.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nthrottled_usec 250000");
  node.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1800000");
  const KernelCounters found = read_counters(node.root());
  ASSERT_EQ(found.threads.size(), 2U);
  EXPECT_EQ(found.threads.at(41).ran, 2);
  EXPECT_EQ(found.threads.at(41).waited, 0.5);
  EXPECT_EQ(found.threads.at(42).cpus, (std::vector<int>{0, 1}));
  const double tick = found.cpus.at(0).busy / 150;
  EXPECT_GT(tick, 0);
  EXPECT_DOUBLE_EQ(found.cpus.at(0).stolen, 30 * tick);
  EXPECT_DOUBLE_EQ(found.cpus.at(1).busy, 10 * tick);
  EXPECT_EQ(found.throttled.at((node.root() / "sys/fs/cgroup/job").string()), 0.25);
  EXPECT_EQ(found.slowest_mhz, 1800);
}

TEST(KernelCounters, OfAKernelThatTellsNothing_AreEmpty) {
  FakeRoot node;
  node.write("proc/self/task/41/comm", "step_bench");
  const KernelCounters found = read_counters(node.root());
  EXPECT_TRUE(found.threads.empty());
  EXPECT_TRUE(found.cpus.empty());
  EXPECT_TRUE(found.throttled.empty());
  const results::TakenTime taken = taken_from({{between(found, found, Seconds{1})}});
  EXPECT_EQ(taken.window_seconds, 1);
  EXPECT_FALSE(taken.run_delay_seconds.has_value());
  EXPECT_FALSE(taken.steal_seconds.has_value());
}

TEST(ProcessShare, HoldsThreadsByTheirCpus_AndThoseThatEnded) {
  KernelCounters before;
  before.threads[1] = {.cpus = {0}, .ran = 1, .waited = 0.2};
  before.cpus[0] = {.busy = 10, .stolen = 1};
  before.ran = 5;
  KernelCounters after = before;
  after.threads[1] = {.cpus = {0}, .ran = 1.5, .waited = 0.3};
  after.threads[2] = {.cpus = {0}, .ran = 0.25, .waited = 0.25};
  after.cpus[0] = {.busy = 12, .stolen = 1.5};
  after.ran = 6;
  before.throttled = {{"/", 9}, {"/job", 1}};
  after.throttled = {{"/", 9}, {"/job", 1.5}};
  const ProcessShare share = between(before, after, Seconds{2});
  ASSERT_EQ(share.groups.size(), 2U);
  EXPECT_EQ(share.groups[0].ran, 0.75);
  EXPECT_EQ(share.groups[0].waited, 0.25);  // of the thread that waited longest
  EXPECT_EQ(share.groups[1].ran, 0.25);     // of threads that are gone
  EXPECT_EQ(share.throttled, 0.5);          // of the group that was stopped longest meanwhile
  EXPECT_EQ(share.cpus.front().busy, 2);
  EXPECT_EQ(share.cpus.front().stolen, 0.5);
}

// A process on one CPU.
ProcessShare on_cpu(int cpu, double ran, double waited, double busy, double stolen = 0) {
  return {.window = 2,
          .groups = {{.cpus = {cpu}, .ran = ran, .waited = waited}},
          .cpus = {{.number = cpu, .busy = busy, .stolen = stolen}},
          .throttled = {},
          .slowest_mhz = {},
          .involuntary_switches = 3,
          .major_faults = 1};
}

TEST(TakenTime, IsWhatOthersHadOfACore) {
  const auto taken = taken_from({{on_cpu(0, 1, 0.5, 1.75), on_cpu(1, 1.75, 0, 1.75)}});
  EXPECT_EQ(taken.run_delay_seconds, 0.5);
  EXPECT_EQ(taken.window_seconds, 2);
  EXPECT_EQ(taken.involuntary_switches, 6);
  EXPECT_EQ(taken.major_faults, 2);
}

TEST(TakenTime, IsNotWhatItsOwnThreadsTakeFromEachOther) {
  // Two ranks on one core wait for each other all the time; others had the core for 0.125 s.
  const auto taken = taken_from({{on_cpu(0, 0.875, 1, 2), on_cpu(0, 1, 1, 2)}});
  EXPECT_EQ(taken.run_delay_seconds, 0.125);
  EXPECT_EQ(taken_from({{on_cpu(0, 1, 1, 2), on_cpu(0, 1, 1, 2)}}).run_delay_seconds, 0);
}

TEST(TakenTime, OfAThreadOnSeveralCpusIsTheirAverage) {
  ProcessShare unbound = on_cpu(0, 1, 1, 1.5);
  unbound.groups.front().cpus = {0, 1};
  unbound.cpus.push_back({.number = 1, .busy = 0, .stolen = 0});
  EXPECT_EQ(taken_from({{unbound}}).run_delay_seconds, 0.25);
}

TEST(TakenTime, OfNodesIsTheWorst_AndTheirCpusAreApart) {
  const auto taken = taken_from({{on_cpu(0, 1, 0.25, 1.25, 0.5)}, {on_cpu(0, 1, 0.5, 1.5, 0.25)}});
  EXPECT_EQ(taken.run_delay_seconds, 0.5);
  EXPECT_EQ(taken.steal_seconds, 0.5);
}

TEST(TakenTime, WhereCpusAreNotTold_IsNotTold) {
  ProcessShare blind = on_cpu(0, 1, 1, 2);
  blind.cpus.clear();
  EXPECT_FALSE(taken_from({{blind}}).run_delay_seconds.has_value());
}

}  // namespace
}  // namespace tandem::bench
