// SPDX-License-Identifier: Apache-2.0
//
// What is made of the driver's management library, with a table of functions in its place.
#include "common/runtime/nvml/nvml.h"

#include <gtest/gtest.h>

#include "tests/support/fake_nvml.h"

namespace tandem::nvml {
namespace {

using testing::fake;
using testing::fake_api;
using testing::kAddress;
using testing::kNotSupported;

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override { fake = {}; }
  const Api api_ = fake_api();
};

TEST_F(NvmlTest, Facts_AreWhatTheDriverTells) {
  fake.mig = 1;
  fake.compute_mode = 3;
  const auto facts = Nvml::open(api_)->facts(kAddress);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->driver, "580.65.06");
  EXPECT_EQ(facts->mig, true);
  EXPECT_EQ(facts->compute_mode, "exclusive process");
  EXPECT_EQ(facts->nvlinks, 17);
  EXPECT_EQ(facts->near_cores, (std::vector{1, 3, 64}));
  EXPECT_EQ(facts->processes, 2);
}

TEST_F(NvmlTest, State_HasClocksPowerAndWhatHoldsThemDown) {
  fake.limits = 0x4 | 0x40;
  const auto state = Nvml::open(api_)->state(kAddress);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->sm_mhz, 1980);
  EXPECT_EQ(state->memory_mhz, 2619);
  EXPECT_DOUBLE_EQ(state->watts.value(), 412.5);
  EXPECT_EQ(state->celsius, 61);
  EXPECT_EQ(state->slowed_by,
            (std::vector<std::string>{"power cap", "thermal slowdown (hardware)"}));
}

TEST_F(NvmlTest, Idle_AndChosenClocks_AreNoSlowdown) {
  EXPECT_TRUE(slowdowns_in(0x1 | 0x2 | 0x10 | 0x100).empty());
  EXPECT_EQ(slowdowns_in(0x8 | 0x20 | 0x80).size(), 3U);
}

TEST_F(NvmlTest, WhatTheDriverLacks_IsAbsentAndNotZero) {
  Api old;
  old.init = api_.init;
  old.shutdown = api_.shutdown;
  old.by_pci_address = api_.by_pci_address;
  const auto nvml = Nvml::open(old);
  EXPECT_EQ(nvml->facts(kAddress), GpuFacts{});
  EXPECT_EQ(nvml->state(kAddress), GpuState{});
}

TEST_F(NvmlTest, WhatTheGpuRefuses_IsAbsent) {
  Api refusing = api_;
  refusing.power = [](DeviceRef, unsigned*) { return kNotSupported; };
  refusing.compute_processes = [](DeviceRef, unsigned*, void*) { return kNotSupported; };
  refusing.mig_mode = [](DeviceRef, unsigned*, unsigned*) { return kNotSupported; };
  fake.nvlinks = 0;
  const auto nvml = Nvml::open(refusing);
  EXPECT_FALSE(nvml->state(kAddress)->watts);
  EXPECT_FALSE(nvml->facts(kAddress)->processes);
  EXPECT_FALSE(nvml->facts(kAddress)->mig);
  EXPECT_FALSE(nvml->facts(kAddress)->nvlinks);
}

TEST_F(NvmlTest, NoProcess_IsZero) {
  fake.processes = 0;
  EXPECT_EQ(Nvml::open(api_)->facts(kAddress)->processes, 0);
}

TEST_F(NvmlTest, AnotherAddress_IsUnknown) {
  const auto nvml = Nvml::open(api_);
  EXPECT_FALSE(nvml->facts("00000000:86:00.0"));
  EXPECT_FALSE(nvml->state("00000000:86:00.0"));
}

TEST_F(NvmlTest, EveryStart_HasItsEnd) {
  { const auto nvml = Nvml::open(api_); }
  EXPECT_EQ(fake.open, 0);
  fake.init_result = 9;  // driver not loaded
  EXPECT_EQ(Nvml::open(api_), nullptr);
  EXPECT_EQ(fake.open, 0);
}

}  // namespace
}  // namespace tandem::nvml
