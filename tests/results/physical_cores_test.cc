// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/results/machine_facts.h"
#include "tests/support/scratch_folder.h"

namespace tandem::results {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

// A /sys/devices/system/cpu of its own.
class PhysicalCores : public ::testing::Test {
 protected:
  void put(int cpu, const std::string& file, const std::string& text) {
    const fs::path topology = system() / fmt::format("cpu{}", cpu) / "topology";
    fs::create_directories(topology);
    std::ofstream(topology / file) << text << '\n';
  }
  [[nodiscard]] fs::path system() const { return folder_ / "cpu"; }

 private:
  ScratchFolder folder_;
};

TEST_F(PhysicalCores, ThreadsOfOneCore_CountOnce) {
  for (const int cpu : {0, 1}) put(cpu, "thread_siblings_list", "0-1");
  for (const int cpu : {2, 3}) put(cpu, "thread_siblings_list", "2-3");
  EXPECT_EQ(physical_cores({0, 1}, system()), 1);
  EXPECT_EQ(physical_cores({0, 1, 2, 3}, system()), 2);
}

TEST_F(PhysicalCores, OnlyGivenThreadsCount) {
  for (const int cpu : {0, 2}) put(cpu, "thread_siblings_list", "0,2");
  for (const int cpu : {1, 3}) put(cpu, "thread_siblings_list", "1,3");
  EXPECT_EQ(physical_cores({0, 1}, system()), 2);
  EXPECT_EQ(physical_cores({3}, system()), 1);
}

TEST_F(PhysicalCores, WithoutSiblings_AreToldByPackageAndNumber) {
  for (const int cpu : {0, 1, 2}) put(cpu, "core_id", "0");
  for (const int cpu : {0, 1}) put(cpu, "physical_package_id", "0");
  put(2, "physical_package_id", "1");
  EXPECT_EQ(physical_cores({0, 1, 2}, system()), 2);
}

TEST_F(PhysicalCores, WhereTheSystemIsSilent_EveryThreadCounts) {
  put(0, "thread_siblings_list", "0-1");
  EXPECT_EQ(physical_cores({0, 1}, system()), 2);
  EXPECT_EQ(physical_cores({0, 1}, system() / "absent"), 2);
}

}  // namespace
}  // namespace tandem::results
