// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/gpu_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/comm/thread_bootstrap.h"
#include "common/results/launch_record.h"
#include "tests/support/fake_nvml.h"

namespace tandem::bench {
namespace {

using nvml::testing::fake;
using nvml::testing::kAddress;
using nvml::testing::kPeerAddress;

class GpuWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { nvml::testing::reset_fakes(); }
  [[nodiscard]] GpuWatch watch_of(int device, const std::string& hardware) const {
    return {{{.device = device, .hardware = hardware}},
            {{.device = device, .hardware = hardware},
             {.device = 7, .hardware = std::string(kPeerAddress) + " GPU-77aa"},
             {.device = 8, .hardware = std::string(kAddress) + " GPU-another-slice"}},
            nvml::Nvml::open(api_)};
  }
  const nvml::Api api_ = nvml::testing::fake_api();
  const std::string hardware_ = std::string(kAddress) + " GPU-5f0e";
};

TEST_F(GpuWatchTest, ReadsBeforeAndAfter) {
  GpuWatch watch = watch_of(3, hardware_);
  watch.before_samples();
  fake.sm_mhz = 1410;
  fake.limits = 0x4;
  watch.after_samples();
  ASSERT_EQ(watch.records().size(), 1U);
  const results::GpuRecord& record = watch.records().front();
  EXPECT_EQ(record.device, 3);
  EXPECT_EQ(record.hardware, hardware_);
  EXPECT_EQ(record.name, "NVIDIA H200");
  EXPECT_EQ(record.memory_bytes, 150'754'820'096);
  EXPECT_EQ(record.before.sm_mhz, 1980);
  EXPECT_TRUE(record.before.slowed_by.empty());
  EXPECT_EQ(record.after.sm_mhz, 1410);
  EXPECT_EQ(record.after.slowed_by, std::vector<std::string>{"power cap"});
}

TEST_F(GpuWatchTest, TimeHeldDown_IsWhatTheCountersAdded) {
  GpuWatch watch = watch_of(0, hardware_);
  watch.before_samples();
  fake.held_down[0] += 20'000'000;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  watch.after_samples();
  const results::GpuRecord& record = watch.records().front();
  EXPECT_EQ(record.held_down_ms,
            (std::map<std::string, double>{{"power cap", 20.0}, {"thermal slowdown", 0.0}}));
  const std::vector<std::string> lines = slowdown_warnings(watch.records());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(
      lines.front().find("device 0 (00000000:3B:00.0): power cap held its clocks down for 20"), 0U)
      << lines.front();
}

TEST_F(GpuWatchTest, TimeHeldDown_IsNeverMoreThanTheTimeWatched) {
  GpuWatch watch = watch_of(0, hardware_);
  watch.before_samples();
  fake.held_down[0] += 3'600'000'000'000;
  watch.after_samples();
  const results::GpuRecord& record = watch.records().front();
  EXPECT_EQ(record.held_down_ms.at("power cap"), record.watched_ms.value());
}

TEST_F(GpuWatchTest, Clocks_ThatClimb_AreSteadyOnceTheClimbIsTwoSecondsAgo) {
  GpuWatch watch = watch_of(0, hardware_);
  EXPECT_TRUE(watch.are_clocks_steady());  // nothing is known of them
  for (int i = 0; i < 21; ++i) {
    fake.sm_mhz = i < 2 ? 345 : 1980;
    watch.read_clocks();
    EXPECT_FALSE(watch.are_clocks_steady()) << i;
  }
  watch.read_clocks();  // the climb lies behind the latest twenty
  EXPECT_TRUE(watch.are_clocks_steady());
}

TEST_F(GpuWatchTest, Clocks_ThatMoveAboutALevel_AreSteady_AndTheDriftIsThatOfTheLevel) {
  GpuWatch watch = watch_of(0, hardware_);
  for (int i = 0; i < 20; ++i) {
    fake.sm_mhz = (i % 2 == 0 ? 1980 : 1700) + (i < 10 ? 18 : 0);
    watch.read_clocks();
  }
  EXPECT_TRUE(watch.are_clocks_steady());
  watch.before_samples();
  EXPECT_NEAR(watch.records().front().clock_drift.value(), 1858.0 / 1840 - 1, 1e-9);
}

TEST_F(GpuWatchTest, Clocks_ThatSinkFromReadingToReading_AreNotSteady) {
  GpuWatch watch = watch_of(0, hardware_);
  for (unsigned i = 0; i < 20; ++i) {
    fake.sm_mhz = 1980 - 10 * i;
    watch.read_clocks();
  }
  EXPECT_FALSE(watch.are_clocks_steady());
}

TEST_F(GpuWatchTest, ClocksThatCannotBeRead_KeepNothingWaiting_AndHaveNoDrift) {
  fake.clock_result = nvml::testing::kNotSupported;
  GpuWatch watch = watch_of(0, hardware_);
  watch.read_clocks();
  EXPECT_TRUE(watch.are_clocks_steady());
  watch.before_samples();
  EXPECT_FALSE(watch.records().front().clock_drift);
}

TEST_F(GpuWatchTest, Energy_IsWhatTheCounterAdded) {
  GpuWatch watch = watch_of(0, hardware_);
  watch.before_samples();
  fake.millijoules += 250'500;
  watch.after_samples();
  EXPECT_DOUBLE_EQ(watch.records().front().joules.value(), 250.5);
  EXPECT_DOUBLE_EQ(joules_per_step(watch.records(), 1, 100).value(), 2.505);
}

TEST_F(GpuWatchTest, EnergyOfAnInstance_OrOfACounterThatStartedAnew_IsAbsent) {
  for (const bool divided : {true, false}) {
    fake.mig = divided ? 1 : 0;
    GpuWatch watch = watch_of(0, hardware_);
    watch.before_samples();
    fake.millijoules = divided ? fake.millijoules + 1000 : 3;
    watch.after_samples();
    EXPECT_FALSE(watch.records().front().joules);
    EXPECT_FALSE(joules_per_step(watch.records(), 1, 100));
  }
}

TEST(JoulesPerStep, CountsAGpuOfSeveralDevicesOnce_AndNeedsThemAll) {
  std::vector<results::GpuRecord> gpus(3);
  gpus[0].hardware = gpus[1].hardware = "a";
  gpus[2].hardware = "b";
  gpus[0].joules = gpus[1].joules = 30;
  EXPECT_FALSE(joules_per_step(gpus, 3, 10));
  gpus[2].joules = 50;
  EXPECT_DOUBLE_EQ(joules_per_step(gpus, 3, 10).value(), 8);
  EXPECT_FALSE(joules_per_step(gpus, 4, 10));  // nothing is known of one device
  EXPECT_FALSE(joules_per_step({}, 0, 10));
}

TEST_F(GpuWatchTest, CountersThatTheDriverLacks_AreAbsentAndNotZero) {
  fake.held_down.clear();
  GpuWatch watch = watch_of(0, hardware_);
  watch.before_samples();
  watch.after_samples();
  EXPECT_TRUE(watch.records().front().held_down_ms.empty());
  EXPECT_TRUE(slowdown_warnings(watch.records()).empty());
}

TEST_F(GpuWatchTest, KnowsWhereItLies_AndWhatLiesBetweenItAndItsNeighbours) {
  GpuWatch watch = watch_of(0, hardware_);
  watch.before_samples();
  const results::GpuRecord& record = watch.records().front();
  EXPECT_EQ(record.pci, kAddress);
  EXPECT_EQ(record.numa_node, 1);
  ASSERT_EQ(record.peers.size(), 2U);
  EXPECT_EQ(record.peers[0].device, 7);
  EXPECT_EQ(record.peers[0].peer_access, true);
  EXPECT_EQ(record.peers[0].nvlinks, 17);
  EXPECT_EQ(record.peers[0].path, "PCIe switch");
  EXPECT_EQ(record.peers[1].device, 8);
  EXPECT_EQ(record.peers[1].path, "same GPU");
  EXPECT_FALSE(record.peers[1].peer_access);
}

TEST_F(GpuWatchTest, AGpuThatNvmlDoesNotKnow_HasNoRecord) {
  GpuWatch watch = watch_of(0, "00000000:86:00.0 GPU-1");
  watch.before_samples();
  watch.after_samples();
  EXPECT_TRUE(watch.records().empty());
}

TEST_F(GpuWatchTest, WithoutNvml_ThereAreNoRecords) {
  GpuWatch watch({{.device = 0, .hardware = hardware_}}, {}, nullptr);
  watch.before_samples();
  watch.after_samples();
  EXPECT_TRUE(watch.records().empty());
}

// Every rank ends with all records in the order of devices, whichever rank reported them.
TEST_F(GpuWatchTest, Gather_BringsAllRanksTogether) {
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    GpuWatch watch = watch_of(1 - bootstrap.rank(), hardware_);
    watch.before_samples();
    watch.after_samples();
    std::vector<results::GpuRecord> all = watch.gather(bootstrap);
    ASSERT_EQ(all.size(), 2U);
    for (int device = 0; device < 2; ++device) {
      results::GpuRecord& record = all[static_cast<std::size_t>(device)];
      results::GpuRecord expected = watch.records().front();
      expected.device = device;
      record.watched_ms = expected.watched_ms = 1;  // each rank's own
      EXPECT_EQ(results::to_json_line(record), results::to_json_line(expected));
    }
  });
}

}  // namespace
}  // namespace tandem::bench
