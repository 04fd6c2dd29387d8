// SPDX-License-Identifier: Apache-2.0
//
// Ranks of unlike work in virtual time: those that stand for others against all of them.
#include "simulate/engine/simulated_ranks.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/model/zoo.h"
#include "dp/ddp_replicate.h"
#include "tests/support/simulated_devices.h"

namespace tandem::simulated {
namespace {

constexpr int kAllRanks = 8;

std::vector<RankClass> every_rank() {
  std::vector<RankClass> classes;
  for (int rank = 0; rank < kAllRanks; ++rank) classes.push_back({rank, 1});
  return classes;
}

class SimulatedRanksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    machine_.gpu.memory.value = gib(1);
    machine_.gpu.contention.value = 0.05;
    machine_.host.launch.value = Nanoseconds{4000};
  }

  // The figures of one settled step on ranks of these classes.
  struct Found {
    Nanoseconds step{0};
    std::vector<DeviceTimes> phases;
    int devices = 0;
    std::int64_t calls = 0;
  };
  [[nodiscard]] Found run(const std::vector<RankClass>& classes, std::int64_t batch) const {
    const auto platform = test::simulated_devices(static_cast<int>(classes.size()), machine_);
    SimulatedRanks ranks(*platform, classes, {}, [&](Device& device, Communicator& all) {
      return std::make_unique<dp::DdpReplicate>(*platform, device, *model_, all,
                                                TrainingOptions{.global_batch = batch});
    });
    const auto step = [&] {
      ranks.step();
      ranks.synchronize();
    };
    step();
    static_cast<void>(ranks.collect_phases());
    const TimePoint start = platform->now();
    simulated::Schedule& schedule = simulated::simulation_of(platform->device(0)).schedule();
    static_cast<void>(schedule.take_path_account());
    step();
    const Nanoseconds taken = platform->now() - start;
    EXPECT_EQ(schedule.take_path_account().total(), taken);
    return {taken, ranks.collect_phases(), ranks.devices_used(), ranks.dispatches()};
  }

  HardwareDescription machine_ = test::round_machine();
  const std::unique_ptr<Model> model_ = make_model("mlp-small");
};

TEST_F(SimulatedRanksTest, ThoseOfAClass_TakeAsLongAsAllOfThem) {
  for (const std::int64_t batch : {std::int64_t{256}, std::int64_t{255}}) {
    const Found folded = run(classes_with_root(kAllRanks), batch);
    const Found all = run(every_rank(), batch);
    EXPECT_EQ(folded.step, all.step) << batch;
    EXPECT_EQ(folded.devices, kAllRanks);
    EXPECT_EQ(folded.calls, all.calls);
    ASSERT_EQ(all.phases.size(), static_cast<std::size_t>(kAllRanks));
    ASSERT_EQ(folded.phases.size(), 3U);  // the root, those between, the last
    for (int rank = 0; rank < kAllRanks; ++rank) {
      const DeviceTimes& stands_for = folded.phases[rank == 0 ? 0 : rank < kAllRanks - 1 ? 1 : 2];
      EXPECT_LE(stands_for.device, rank);
      EXPECT_EQ(stands_for.times.total, all.phases[static_cast<std::size_t>(rank)].times.total)
          << rank;
    }
    EXPECT_EQ(folded.phases[2].device, kAllRanks - 1);
  }
}

TEST_F(SimulatedRanksTest, TheSmallerShard_WaitsForTheOthers) {
  const Found found = run(every_rank(), 250);  // 32 each, and 26
  const auto forward = [&](std::size_t rank) {
    return found.phases[rank].times.of(Phase::kForward);
  };
  EXPECT_LT(forward(kAllRanks - 1), forward(1));
  EXPECT_EQ(forward(2), forward(1));
}

TEST(RankClassesWithRoot, AreTheRoot_TheLastRank_AndThoseBetween) {
  const auto counts = [](int ranks) {
    std::vector<int> all;
    for (const RankClass& one : classes_with_root(ranks)) all.push_back(one.count);
    return all;
  };
  EXPECT_EQ(counts(1), (std::vector<int>{1}));
  EXPECT_EQ(counts(2), (std::vector<int>{1, 1}));
  EXPECT_EQ(counts(3), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(counts(1000), (std::vector<int>{1, 998, 1}));
}

}  // namespace
}  // namespace tandem::simulated
