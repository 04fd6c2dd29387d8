// SPDX-License-Identifier: Apache-2.0
//
// What looks on while a strategy steps: the flight log, the check of numerics, planted faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/job/fault.h"
#include "bench/observe/flight_log.h"
#include "bench/step/step_watch.h"
#include "common/base/system_files.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/flight/flight_recorder.h"
#include "common/runtime/host/cores.h"
#include "ddp/dp_all_reduce.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/training.h"

namespace tandem::bench {
namespace {

using test::error_of;

constexpr int kDevices = 2;

// dp-allreduce on two devices, each a rank, with observers.
class StepObserversTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<ddp::DpAllReduce> strategy(std::vector<StepObserver*> observers,
                                                           FlightLog* flight = nullptr,
                                                           PlantedFault* fault = nullptr) {
    TrainingOptions training = test::exact_training(8);
    training.phases = {PhaseTiming::kOff, std::nullopt, std::move(observers)};
    const auto communicator = [=](Bootstrap& bootstrap, Device& device) {
      auto made = make_shared_memory_communicator(
          bootstrap, device,
          {.observer = flight == nullptr ? nullptr : flight->collectives_of(bootstrap.rank())});
      if (fault != nullptr) fault->meet(bootstrap.rank(), *made);
      return made;
    };
    return std::make_unique<ddp::DpAllReduce>(
        *platform_, *model_, training, ddp::DpAllReduceOptions{.communicator = communicator});
  }

  [[nodiscard]] static Error error_of_steps(ddp::DpAllReduce& strategy, int steps) {
    return error_of([&] {
      for (int step = 0; step < steps; ++step) strategy.step();
      strategy.synchronize();
    });
  }

  const std::unique_ptr<Model> model_ = test::exact_model();
  const std::unique_ptr<Platform> platform_ = test::host_devices(kDevices);
};

// The caller, who begins each device's phase "launch", and a thread of the device's own for the
// rest.
TEST_F(StepObserversTest, ThreadPlaces_AreThoseOfTheThreadsThatEnqueue) {
  ThreadPlaces threads;
  const auto trained = strategy({&threads});
  for (int step = 0; step < 3; ++step) trained->step();
  trained->synchronize();
  int driven = 0;
  for (const results::ThreadPlace& job : threads.places()) {
    const auto& phases = job.phases;
    EXPECT_EQ(job.numa_nodes, host::numa_nodes_of(job.cpus));
    if (std::find(phases.begin(), phases.end(), "forward") == phases.end()) {
      EXPECT_EQ(job.cpus, allowed_cpus());
      continue;
    }
    ++driven;
    ASSERT_EQ(job.cpus.size(), 1U);  // its core
    EXPECT_EQ(platform_->device(job.device).hardware(), fmt::format("core {}", job.cpus.front()));
  }
  EXPECT_EQ(driven, kDevices);
}

// Nothing is asked in steps that are timed: a thread that moves later is not seen any more.
TEST_F(StepObserversTest, ThreadPlaces_AreOfTheFirstSteps) {
  ThreadPlaces threads;
  Device& device = platform_->device(0);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  for (int step = 0; step < 2; ++step) {
    threads.phase_begins(device, *stream, Phase::kForward);
    threads.step_ends(device, *stream);
  }
  threads.phase_begins(device, *stream, Phase::kUpdate);
  ASSERT_EQ(threads.places().size(), 1U);
  EXPECT_EQ(threads.places().front().phases, std::vector<std::string>{"forward"});
}

TEST_F(StepObserversTest, FlightLog_FollowsEachDevice) {
  const test::ScratchFolder folder;
  FlightLog flight(folder / "", {.count = kDevices, .world = kDevices});
  const auto trained = strategy({&flight}, &flight);
  for (int step = 0; step < 3; ++step) trained->step();
  trained->synchronize();
  const std::vector<FlightRecord> records = read_flight_records(folder / "");
  ASSERT_EQ(records.size(), 2U);
  for (const FlightRecord& record : records) {
    EXPECT_EQ(to_string(record.device), "step 3, phase idle");
    EXPECT_GE(record.finished, 4U);  // the weights, and a bucket in each step
    EXPECT_EQ(record.in_hand(), nullptr);
    EXPECT_FALSE(record.ended);
  }
  EXPECT_EQ(records[0].finished, records[1].finished);
}

TEST_F(StepObserversTest, FlightLog_KeepsWhatEndedTheRank) {
  const test::ScratchFolder folder;
  FlightLog flight(folder / "", {.first = 2, .world = 3});
  flight.enter(Stage::kBuild);
  flight.failed(Error(PeerFailure{.kind = PeerFailure::Kind::kWaited}, "rank 2 waited in vain"));
  flight.ended();
  const auto record = read_flight_record(folder / "rank.2");
  ASSERT_TRUE(record && record->failure);
  EXPECT_EQ(record->failure->text, "rank 2 waited in vain");
  EXPECT_EQ(record->failure->kind, FailureKind::kWaited);
  EXPECT_EQ(to_string(record->place()), "step 0, phase build");
  EXPECT_FALSE(record->ended);
}

TEST_F(StepObserversTest, FlightLogWithoutFolder_KeepsNothing) {
  FlightLog flight("", {.count = 2, .world = 2});
  EXPECT_FALSE(flight.is_kept());
  EXPECT_EQ(flight.collectives_of(1), nullptr);
  flight.enter(Stage::kReport);
}

TEST_F(StepObserversTest, FolderThatIsNone_IsAUsageError) {
  const Error error = error_of([] { FlightLog("/nowhere", {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_NE(std::string(error.what()).find("--flight-dir: "), std::string::npos);
}

TEST_F(StepObserversTest, ThrowingRank_EndsTheStepWithItsWords) {
  PlantedFault fault({.kind = FaultKind::kThrows, .rank = 0, .step = 2}, std::nullopt);
  const auto trained = strategy({&fault});
  trained->step();
  EXPECT_THROW(fault.check_met(), Error);
  EXPECT_EQ(error_of_steps(*trained, 1).what(), std::string("rank 0: thrown on purpose (--fault)"));
  fault.check_met();
}

TEST_F(StepObserversTest, RankThatAsksForTooMuch_IsOutOfMemory) {
  PlantedFault fault({.kind = FaultKind::kMemory, .rank = 1, .step = 1}, std::nullopt);
  const auto trained = strategy({&fault});
  EXPECT_EQ(error_of_steps(*trained, 1).kind(), ErrorKind::kOutOfMemory);
}

TEST_F(StepObserversTest, DivergingRank_IsACommunicationError) {
  PlantedFault fault({.kind = FaultKind::kDiverges, .rank = 1, .step = 2}, std::nullopt);
  const auto trained = strategy({&fault}, nullptr, &fault);
  const Error error = error_of_steps(*trained, 2);
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  EXPECT_NE(std::string(error.what()).find("different collectives"), std::string::npos)
      << error.what();
}

TEST(ParseFault, TakesRankAndStep_OrTheLastRankAndStepFive) {
  const Fault usual = parse_fault("killed", 3);
  EXPECT_EQ(usual.kind, FaultKind::kKilled);
  EXPECT_EQ(usual.rank, 2);
  EXPECT_EQ(usual.step, 5);
  const Fault given = parse_fault("memory:0@12", 3);
  EXPECT_EQ(given.kind, FaultKind::kMemory);
  EXPECT_EQ(given.rank, 0);
  EXPECT_EQ(given.step, 12);
  EXPECT_EQ(parse_fault("stopped@7", 2).step, 7);
}

TEST(ParseFault, WhatIsNone_IsAUsageError) {
  for (const char* text :
       {"", "sleepy", "killed:x", "killed:2", "killed@0", "killed@", "killed:1@-1"}) {
    EXPECT_EQ(error_of([&] { static_cast<void>(parse_fault(text, 2)); }).kind(), ErrorKind::kUsage)
        << text;
  }
}

}  // namespace
}  // namespace tandem::bench
