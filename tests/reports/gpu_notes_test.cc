// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "reports/model/notes.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two launches of ddp; `change` is made to the GPU of the first.
template <class Change>
results::Document two_launches(Change&& change) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.010, 0.011});
  for (results::LaunchRecord& launch : synthetic.document().launches) {
    results::GpuRecord gpu;
    gpu.processes = 1;
    gpu.after.sm_mhz = 1980;
    launch.gpus = {gpu};
  }
  change(synthetic.document().launches.front());
  return synthetic.document();
}

TEST(GpuNotes, GpusWithNothingWrong_NeedNoLine) {
  EXPECT_THAT(gpu_notes(two_launches([](auto&) {})), IsEmpty());
  EXPECT_THAT(gpu_notes(Synthetic().add("dp", 2, {0.01}).document()), IsEmpty());
}

TEST(GpuNotes, ASlowdown_IsNamedWithItsLaunches) {
  const results::Document document = two_launches(
      [](results::LaunchRecord& launch) { launch.gpus[0].after.slowed_by = {"power cap"}; });
  EXPECT_THAT(gpu_notes(document),
              ElementsAre(HasSubstr("in 1 launch a GPU's clocks were held down, by power cap when "
                                    "it was looked at;")));
}

TEST(GpuNotes, ASlowdownWithoutCountedTime_StandsBesideTheFigureToo) {
  const results::Document document = two_launches([](results::LaunchRecord& launch) {
    launch.gpus[0].before.slowed_by = {"thermal slowdown"};
  });
  EXPECT_EQ(marks_of(summarize(document).cells.front()),
            std::vector<std::string>{"throttled: thermal slowdown when it was looked at"});
}

TEST(GpuNotes, TimeHeldDown_StandsInALineAndBesideTheFigure) {
  const auto held_down = [](results::LaunchRecord& launch) {
    launch.gpus[0].watched_ms = 500;
    launch.gpus[0].held_down_ms = {{"power cap", 60}, {"thermal slowdown", 0}};
  };
  const results::Document document = two_launches(held_down);
  EXPECT_THAT(gpu_notes(document),
              ElementsAre(HasSubstr("throttled while measuring: in 1 launch a GPU's clocks were "
                                    "held down, by power cap for up to 12 % of the time")));
  EXPECT_EQ(marks_of(summarize(document).cells.front()),
            std::vector<std::string>{"throttled: power cap for up to 12 % of the time"});
}

// Absent is not zero, but neither is something to warn of.
TEST(GpuNotes, CountersThatStoodStill_OrAreNotTold_NeedNoMark) {
  const results::Document still = two_launches([](results::LaunchRecord& launch) {
    launch.gpus[0].watched_ms = 500;
    launch.gpus[0].held_down_ms = {{"power cap", 0}};
  });
  EXPECT_TRUE(marks_of(summarize(still).cells.front()).empty());
  const results::Document untold = two_launches([](auto&) {});
  EXPECT_EQ(slowdown_mark(summarize(untold).cells.front()), "");
}

TEST(GpuNotes, ClocksThatStillDrifted_AreMarkedBesideTheFigure) {
  const auto marks_with = [](std::optional<double> drift) {
    const results::Document document = two_launches(
        [drift](results::LaunchRecord& launch) { launch.gpus[0].clock_drift = drift; });
    return marks_of(summarize(document).cells.front());
  };
  EXPECT_THAT(marks_with(std::nullopt), IsEmpty());
  EXPECT_THAT(marks_with(results::kSteadyClock), IsEmpty());
  EXPECT_THAT(marks_with(0.12), ElementsAre("GPU clocks still drifted by 12 % after the warm-up"));
}

TEST(GpuNotes, AThreadOnAnotherNode_IsToldOf) {
  const auto on_node = [](int node) {
    return [node](results::LaunchRecord& launch) {
      launch.gpus[0].numa_node = 1;
      launch.threads = {{.device = 0, .phases = {"forward"}, .cpus = {3}, .numa_nodes = {node}}};
    };
  };
  EXPECT_THAT(gpu_notes(two_launches(on_node(0))),
              ElementsAre(HasSubstr("far from the GPU: in 1")));
  EXPECT_TRUE(gpu_notes(two_launches(on_node(1))).empty());
}

TEST(GpuFacts, PairsWithTheSameBetweenThem_StandTogether) {
  results::Document document = two_launches([](results::LaunchRecord& launch) {
    results::GpuRecord gpu = launch.gpus.front();
    gpu.peers = {{.device = 1, .peer_access = true, .nvlinks = 18, .path = "NUMA node"},
                 {.device = 2, .peer_access = false, .nvlinks = {}, .path = "system"}};
    launch.gpus = {gpu};
  });
  const auto facts = gpu_facts(document);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].second,
            "0-1: 18 NVLinks, peer access, PCIe by NUMA node; 0-2: no peer access, PCIe by system");
}

TEST(GpuFacts, WhatHoldsForEveryPair_IsSaidOnce) {
  results::Document document = two_launches([](results::LaunchRecord& launch) {
    launch.gpus[0].peers = {{.device = 1, .peer_access = true, .nvlinks = 1, .path = ""},
                            {.device = 2, .peer_access = true, .nvlinks = 1, .path = ""}};
  });
  const auto facts = gpu_facts(document);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].second, "each two: 1 NVLink, peer access");
}

TEST(GpuFacts, Kind_Memory_AndDriver_AreNamed) {
  results::Document document = two_launches([](results::LaunchRecord& launch) {
    results::GpuRecord gpu = launch.gpus.front();
    gpu.name = "NVIDIA H200";
    gpu.memory_bytes = std::int64_t{141} << 30;
    gpu.driver = "580.65.06";
    results::GpuRecord other = gpu;
    other.device = 1;
    launch.gpus = {gpu, other};
  });
  const std::pair<std::string, std::string> kind{"GPU", "NVIDIA H200, 141.0 GiB"};
  const std::pair<std::string, std::string> driver{"driver", "580.65.06"};
  EXPECT_THAT(gpu_facts(document), ElementsAre(kind, driver));
}

TEST(GpuFacts, OfTheHost_AreNone) {
  EXPECT_TRUE(gpu_facts(Synthetic().add("dp", 2, {0.01}).document()).empty());
}

TEST(GpuNotes, AFailedLaunch_SaysNothingOfFigures) {
  const results::Document document = two_launches([](results::LaunchRecord& launch) {
    launch.status = results::Status::kFailed;
    launch.gpus[0].after.slowed_by = {"power cap"};
  });
  EXPECT_THAT(gpu_notes(document), IsEmpty());
}

TEST(GpuNotes, OtherProcesses_AreToldOfUnlessDevicesShareOnPurpose) {
  const auto busy = [](results::LaunchRecord& launch) { launch.gpus[0].processes = 3; };
  EXPECT_THAT(gpu_notes(two_launches(busy)), ElementsAre(HasSubstr("shared GPUs")));
  EXPECT_THAT(gpu_notes(two_launches([&](results::LaunchRecord& launch) {
                busy(launch);
                launch.oversubscribed = true;
              })),
              IsEmpty());
}

TEST(GpuNotes, AnInstance_IsNoWholeGpu) {
  EXPECT_THAT(gpu_notes(two_launches([](auto& launch) { launch.gpus[0].mig = true; })),
              ElementsAre(HasSubstr("MIG")));
}

}  // namespace
}  // namespace tandem::reports
