// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <latch>
#include <set>
#include <thread>

#include "common/base/system_files.h"
#include "tests/runtime/memory_policy.h"

namespace tandem::host {
namespace {

using Shares = std::vector<std::vector<int>>;

// One hardware thread each, numbered from 0.
std::vector<Core> cores(int count) {
  std::vector<Core> all;
  for (int core = 0; core < count; ++core) all.push_back({core});
  return all;
}

TEST(CoreSharesTest, GpusNearTheSameCores_GetDisjointContiguousShares) {
  EXPECT_EQ(share_cores(cores(8), {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}),
            (Shares{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
}

TEST(CoreSharesTest, CoresThatDoNotDivide_AreAllGivenOut) {
  EXPECT_EQ(share_cores(cores(8), {{}, {}, {}}), (Shares{{0, 1}, {2, 3, 4}, {5, 6, 7}}));
}

TEST(CoreSharesTest, ACore_IsNeverSplit) {
  // Hardware threads numbered as many machines do: the second of each core after all first ones.
  EXPECT_EQ(share_cores({{0, 4}, {1, 5}, {2, 6}, {3, 7}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}),
            (Shares{{0, 1, 4, 5}, {2, 3, 6, 7}}));
}

TEST(CoreSharesTest, FewerCoresThanDevices_AreSharedAndNobodyGetsNone) {
  EXPECT_EQ(share_cores(cores(2), {{}, {}, {}, {}}), (Shares{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(share_cores(cores(1), {{0}, {0}, {5}}), (Shares{{0}, {0}, {0}}));
}

TEST(CoreSharesTest, NearCoresThatMayNotBeUsed_LeaveTheOthers) {
  EXPECT_EQ(share_cores(cores(4), {{64, 65}}), (Shares{{0, 1, 2, 3}}));
  EXPECT_EQ(share_cores(cores(4), {{2, 3, 64, 65}}), (Shares{{2, 3}}));
}

TEST(CoreSharesTest, AGpuOfWhichNothingIsKnown_TakesNoneFromTwoDevicesAtOnce) {
  const Shares shares = share_cores(cores(8), {{0, 1, 2, 3}, {}});
  EXPECT_EQ(shares, (Shares{{0, 1}, {2, 3, 4, 5, 6, 7}}));
}

TEST(CoreSharesTest, Disjoint_WhateverTheNumbers) {
  for (int count = 1; count <= 12; ++count) {
    for (int devices = 1; devices <= count; ++devices) {
      std::set<int> seen;
      int given = 0;
      for (const auto& share :
           share_cores(cores(count), Shares(static_cast<std::size_t>(devices)))) {
        EXPECT_FALSE(share.empty());
        EXPECT_EQ(share.back() - share.front() + 1, static_cast<int>(share.size()));
        seen.insert(share.begin(), share.end());
        given += static_cast<int>(share.size());
      }
      EXPECT_EQ(given, count) << devices << " devices";
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(count)) << devices << " devices";
    }
  }
}

TEST(CoresTest, WholeCores_HoldEachCpuOnce) {
  std::vector<int> all;
  for (const Core& core : whole_cores(allowed_cpus())) {
    all.insert(all.end(), core.begin(), core.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, allowed_cpus());
}

TEST(CoresTest, NumaNodes_AreThoseOfTheCpus) {
  EXPECT_FALSE(numa_nodes_of(allowed_cpus()).empty());
  EXPECT_TRUE(numa_nodes_of({}).empty());
}

// The affinity of another thread of this process, as the kernel has it.
int cpus_of(pid_t thread) {
  cpu_set_t set;
  return sched_getaffinity(thread, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

TEST(CoresTest, BoundProcess_HasAllItsThreadsThere) {
  const std::vector<int> before = allowed_cpus();
  std::latch started(1);
  std::latch done(1);
  pid_t other = 0;
  std::thread thread([&] {
    other = static_cast<pid_t>(syscall(SYS_gettid));
    started.count_down();
    done.wait();
  });
  started.wait();
  bind_this_process({before.back()});
  EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
  EXPECT_EQ(cpus_of(other), 1);
  bind_this_process(before);
  EXPECT_EQ(cpus_of(other), static_cast<int>(before.size()));
  done.count_down();
  thread.join();
}

TEST(MemoryNodeTest, IsPreferredMeanwhile_AndTheOldPolicyIsBackAfterIt) {
  const int before = test::memory_policy();
  if (before < 0) GTEST_SKIP() << "this system does not let a thread ask for its memory policy";
  const int node = numa_nodes_of(allowed_cpus()).front();
  int during = -1;
  MemoryNode(node).prefer_during([&] { during = test::memory_policy(); });
  EXPECT_EQ(test::memory_policy(), before);
  if (during == before) GTEST_SKIP() << "this system does not let a thread choose its memory";
  EXPECT_NE(during, 0);  // MPOL_DEFAULT
}

TEST(MemoryNodeTest, ThatDoesNotExist_ChangesNothing) {
  const int before = test::memory_policy();
  int during = -1;
  MemoryNode(4095).prefer_during([&] { during = test::memory_policy(); });
  EXPECT_EQ(during, before);
}

TEST(MemoryNodeTest, WhatAllocationThrows_ComesThrough_AndThePolicyIsBack) {
  const int before = test::memory_policy();
  EXPECT_THROW(MemoryNode(0).prefer_during([] { throw 42; }), int);
  EXPECT_EQ(test::memory_policy(), before);
}

}  // namespace
}  // namespace tandem::host
