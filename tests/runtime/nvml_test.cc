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
using testing::fake_driver;
using testing::fake_peer;
using testing::kAddress;
using testing::kNotSupported;
using testing::kPeerAddress;
using testing::reset_fakes;

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override { reset_fakes(); }
  const Api api_ = fake_api();
};

TEST_F(NvmlTest, Facts_AreWhatTheDriverTells) {
  fake.mig = 1;
  fake.compute_mode = 3;
  const auto facts = Nvml::open(api_)->facts(kAddress);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->driver, "580.65.06");
  EXPECT_EQ(facts->name, "NVIDIA H200");
  EXPECT_EQ(facts->memory_bytes, 150'754'820'096);
  EXPECT_EQ(facts->mig, true);
  EXPECT_EQ(facts->compute_mode, "exclusive process");
  EXPECT_EQ(facts->nvlinks, 17);
  EXPECT_EQ(facts->near_cores, (std::vector{1, 3, 64}));
  EXPECT_EQ(facts->near_node, 1);
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
  EXPECT_EQ(nvml->pair(kAddress, kPeerAddress), PairFacts{});
  EXPECT_TRUE(nvml->held_down(kAddress).empty());
}

TEST_F(NvmlTest, EnergyAndClock_AreReadAlone_OrAbsent) {
  const auto nvml = Nvml::open(api_);
  EXPECT_EQ(nvml->energy(kAddress), 7'000'000U);
  EXPECT_EQ(nvml->sm_clock(kAddress), 1980);
  EXPECT_FALSE(nvml->energy("00000000:01:00.0"));
  Api old = api_;
  old.energy = nullptr;
  EXPECT_FALSE(Nvml::open(old)->energy(kAddress));
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

TEST_F(NvmlTest, GpusBehindSwitches_HaveAsManyLinksAsTheOneWithFewer) {
  fake_peer.nvlinks = 13;
  const auto pair = Nvml::open(api_)->pair(kAddress, kPeerAddress);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->nvlinks, 12);  // the last one is down
  EXPECT_EQ(pair->peer_access, true);
  EXPECT_EQ(pair->path, "PCIe switch");
}

TEST_F(NvmlTest, DirectLinks_CountForTheirPeerAlone) {
  fake.link_type = fake_peer.link_type = kRemoteGpu;
  fake.link_address = kPeerAddress;
  fake_peer.link_address = kAddress;
  const auto nvml = Nvml::open(api_);
  EXPECT_EQ(nvml->pair(kAddress, kPeerAddress)->nvlinks, 17);
  fake.link_address = "00000000:D8:00.0";  // a third GPU
  EXPECT_EQ(nvml->pair(kAddress, kPeerAddress)->nvlinks, 0);
}

TEST_F(NvmlTest, PeerAccess_IsNoWhereTheDriverRefuses_AndAbsentWhereItDoesNotKnow) {
  const auto nvml = Nvml::open(api_);
  fake_driver.peer_status = 1;  // the chipset does not
  fake_driver.path = 50;
  EXPECT_EQ(nvml->pair(kAddress, kPeerAddress)->peer_access, false);
  EXPECT_EQ(nvml->pair(kAddress, kPeerAddress)->path, "system");
  fake_driver.peer_status = kPeerUnknown;
  EXPECT_FALSE(nvml->pair(kAddress, kPeerAddress)->peer_access);
}

TEST_F(NvmlTest, GpuWithoutNvlinks_HasNoneToTellOf) {
  fake.nvlinks = 0;
  EXPECT_FALSE(Nvml::open(api_)->pair(kAddress, kPeerAddress)->nvlinks);
}

TEST_F(NvmlTest, OneGpu_IsNoPair) {
  EXPECT_FALSE(Nvml::open(api_)->pair(kAddress, kAddress));
  EXPECT_FALSE(Nvml::open(api_)->pair(kAddress, "00000000:86:00.0"));
}

TEST_F(NvmlTest, TimesHeldDown_AreOfTheCausesThatTheDriverCounts) {
  const HeldDown times = Nvml::open(api_)->held_down(kAddress);
  EXPECT_EQ(times, (HeldDown{{"power cap", std::chrono::milliseconds(5)},
                             {"thermal slowdown", Nanoseconds(0)}}));
}

// Some drivers have the counters as fields alone.
TEST_F(NvmlTest, TimesHeldDown_ComeFromFieldsWhereThePoliciesAreNotToldOf) {
  Api newer = api_;
  newer.violation = nullptr;
  newer.field_values = [](DeviceRef, int, FieldValue* value) {
    value->result = value->field == 75 ? kSuccess : kNotSupported;
    value->type = kUnsigned64;
    value->value = 7'000'000;
    return kSuccess;
  };
  EXPECT_EQ(Nvml::open(newer)->held_down(kAddress),
            (HeldDown{{"thermal slowdown", std::chrono::milliseconds(7)}}));
}

TEST_F(NvmlTest, TimeBetweenReadings_IsOfCausesThatBothHave_AndNeverNegative) {
  const auto ms = [](int count) { return Nanoseconds(std::chrono::milliseconds(count)); };
  EXPECT_EQ(between({{"power cap", ms(5)}, {"board limit", ms(9)}, {"reliability", ms(1)}},
                    {{"power cap", ms(25)}, {"board limit", ms(2)}}),
            (HeldDown{{"power cap", ms(20)}}));
}

TEST_F(NvmlTest, AnotherAddress_IsUnknown) {
  const auto nvml = Nvml::open(api_);
  EXPECT_FALSE(nvml->facts("00000000:86:00.0"));
  EXPECT_FALSE(nvml->state("00000000:86:00.0"));
}

TEST_F(NvmlTest, EveryStart_HasItsEnd) {
  { const auto nvml = Nvml::open(api_); }
  EXPECT_EQ(fake_driver.open, 0);
  fake_driver.init_result = 9;  // driver not loaded
  EXPECT_EQ(Nvml::open(api_), nullptr);
  EXPECT_EQ(fake_driver.open, 0);
}

}  // namespace
}  // namespace tandem::nvml
