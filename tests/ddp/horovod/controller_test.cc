// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/comm/thread_bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::ddp::horovod {
namespace {

using test::error_of;
using test::mentions;
using TensorNumbers = std::vector<int>;
using Cycle = std::vector<TensorNumbers>;  // what becomes ready, by rank

constexpr int kTensors = 8;

struct History {
  std::vector<CycleDecision> decisions;                   // by cycle; the same on all ranks
  std::vector<std::vector<std::size_t>> message_sizes{};  // by cycle, of rank 0

  // Whether the ranks' requests and rank 0's answer followed the cycle's reports.
  [[nodiscard]] bool negotiated(std::size_t cycle) const {
    return message_sizes[cycle].size() == 3;
  }
};

std::vector<Bytes> sizes() { return std::vector<Bytes>(kTensors, Bytes{64}); }

// All ranks' decisions, after a check that they are the same.
History run(const std::vector<Cycle>& cycles, std::size_t capacity = 1024) {
  const auto ranks = static_cast<int>(cycles.front().size());
  std::vector<History> histories(cycles.front().size());
  run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
    const auto rank = static_cast<std::size_t>(bootstrap.rank());
    History& history = histories[rank];
    const auto exchange = [&](const std::string& mine) {
      history.message_sizes.back().push_back(mine.size());
      return bootstrap.all_gather(mine);
    };
    Controller controller(exchange, bootstrap.rank(), ranks, sizes(), capacity);
    for (const Cycle& cycle : cycles) {
      history.message_sizes.emplace_back();
      history.decisions.push_back(controller.run_cycle(cycle[rank], false));
    }
  });
  for (const History& history : histories) {
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      EXPECT_EQ(history.decisions[i].tensors, histories[0].decisions[i].tensors);
      EXPECT_EQ(history.negotiated(i), histories[0].negotiated(i));
    }
  }
  return histories.front();
}

TEST(Controller, NewTensor_IsDecidedOnceAllRanksHaveIt) {
  const History history = run({{{3}, {}}, {{}, {}}, {{}, {3}}, {{}, {}}});
  EXPECT_TRUE(history.negotiated(0));
  EXPECT_EQ(history.decisions[0].tensors, TensorNumbers{});
  EXPECT_FALSE(history.negotiated(1));
  EXPECT_TRUE(history.negotiated(2));
  EXPECT_EQ(history.decisions[2].tensors, TensorNumbers{3});
  EXPECT_FALSE(history.negotiated(3));
}

TEST(Controller, OrderOfReports_MayDiffer_AndIsOneAfterwards) {
  const History history = run({{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}}});
  EXPECT_EQ(history.decisions[0].tensors, (TensorNumbers{1, 3, 0, 2}));  // as the last rank reports
}

TEST(Controller, KnownTensors_TakeOneMessageOfOneBitEach) {
  const History history = run({{{0, 1}, {1, 0}}, {{0, 1}, {0, 1}}, {{}, {}}});
  EXPECT_EQ(history.message_sizes[0].size(), 3U);  // report, requests, answer
  EXPECT_FALSE(history.negotiated(1));
  EXPECT_EQ(history.message_sizes[1], (std::vector<std::size_t>{2}));
  EXPECT_FALSE(history.negotiated(2));
  EXPECT_EQ(history.message_sizes[2], (std::vector<std::size_t>{2}));
}

TEST(Controller, KnownTensors_ComeByTheirPlaceInTheCache) {
  const History history = run({{{2, 0, 1}, {2, 0, 1}}, {{1, 0, 2}, {0, 1, 2}}});
  EXPECT_EQ(history.decisions[0].tensors, (TensorNumbers{2, 0, 1}));
  EXPECT_EQ(history.decisions[1].tensors, (TensorNumbers{2, 0, 1}));
}

TEST(Controller, KnownTensor_ThatNotAllHave_WaitsForThem) {
  const History history = run({{{0, 1}, {0, 1}}, {{0, 1}, {1}}, {{}, {}}, {{}, {0}}});
  EXPECT_EQ(history.decisions[1].tensors, TensorNumbers{1});
  EXPECT_FALSE(history.negotiated(2));
  EXPECT_FALSE(history.negotiated(3));
  EXPECT_EQ(history.decisions[3].tensors, TensorNumbers{0});
}

TEST(Controller, KnownTensors_ComeBeforeNewOnes) {
  const History history = run({{{5}, {5}}, {{2, 5}, {2, 5}}});
  EXPECT_TRUE(history.negotiated(1));
  EXPECT_EQ(history.decisions[1].tensors, (TensorNumbers{5, 2}));
}

TEST(Controller, MoreTensorsThanTheCacheHolds_AreNegotiatedAnew) {
  const History history = run({{{0, 1, 2}, {0, 1, 2}}, {{0}, {0}}, {{2}, {2}}}, 2);
  EXPECT_TRUE(history.negotiated(1));
  EXPECT_EQ(history.decisions[1].tensors, TensorNumbers{0});
  EXPECT_FALSE(history.negotiated(2));
}

TEST(Controller, WithoutACache_NegotiatesAlways) {
  const History history = run({{{0}, {0}}, {{0}, {0}}}, 0);
  EXPECT_TRUE(history.negotiated(1));
  EXPECT_EQ(history.decisions[1].tensors, TensorNumbers{0});
}

// Rank 0 announces tensor 0 by its bit; before rank 1 has it, the cache forgets it.
TEST(Controller, TensorForgottenWhileItWaits_IsNegotiated) {
  const History history = run({{{0}, {0}}, {{0}, {}}, {{1}, {1}}, {{}, {0}}}, 1);
  EXPECT_FALSE(history.negotiated(1));
  EXPECT_EQ(history.decisions[2].tensors, TensorNumbers{1});
  EXPECT_TRUE(history.negotiated(3));
  EXPECT_EQ(history.decisions[3].tensors, TensorNumbers{0});
}

// Each rank's tensors of a step in an order of its own, spread over some cycles; then enough cycles
// for the last of them.
std::vector<Cycle> random_steps(std::uint32_t seed, int ranks, int steps) {
  constexpr int kSpread = 4;
  std::mt19937 random(seed);
  std::vector<Cycle> cycles;
  for (int step = 0; step < steps; ++step) {
    const std::size_t first = cycles.size();
    cycles.resize(first + kSpread + 1, Cycle(static_cast<std::size_t>(ranks)));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
      TensorNumbers tensors{0, 1, 2, 3, 4, 5, 6, 7};
      std::shuffle(tensors.begin(), tensors.end(), random);
      for (const int tensor : tensors) {
        cycles[first + random() % kSpread][rank].push_back(tensor);
      }
    }
  }
  return cycles;
}

TEST(Controller, RandomSteps_DecideEachTensorOnceAStep_AndNegotiateOnlyTheFirst) {
  for (const std::uint32_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const std::vector<Cycle> cycles = random_steps(seed, 3, 4);
    const History history = run(cycles);
    const std::size_t of_step = cycles.size() / 4;
    for (std::size_t first = 0; first < cycles.size(); first += of_step) {
      TensorNumbers decided;
      for (std::size_t i = first; i < first + of_step; ++i) {
        const CycleDecision& decision = history.decisions[i];
        decided.insert(decided.end(), decision.tensors.begin(), decision.tensors.end());
        EXPECT_TRUE(first == 0 || !history.negotiated(i));
      }
      std::sort(decided.begin(), decided.end());
      EXPECT_EQ(decided, (TensorNumbers{0, 1, 2, 3, 4, 5, 6, 7}));
    }
  }
}

TEST(Controller, RandomStepsOnASmallCache_DecideEachTensorOnceAStep) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const History history = run(random_steps(seed, 3, 4), 3);
    TensorNumbers counts(kTensors);
    for (const auto& decision : history.decisions) {
      for (const int tensor : decision.tensors) ++counts[static_cast<std::size_t>(tensor)];
    }
    EXPECT_EQ(counts, TensorNumbers(kTensors, 4));
  }
}

TEST(Controller, ShutDownByOneRank_IsSeenByAll_AndNothingIsDecided) {
  std::vector<CycleDecision> last(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const auto exchange = [&](const std::string& mine) { return bootstrap.all_gather(mine); };
    Controller controller(exchange, bootstrap.rank(), 2, sizes(), 10);
    static_cast<void>(controller.run_cycle({0}, false));
    last[static_cast<std::size_t>(bootstrap.rank())] =
        controller.run_cycle({0}, bootstrap.rank() == 1);
  });
  for (const CycleDecision& decision : last) {
    EXPECT_TRUE(decision.shut_down);
    EXPECT_EQ(decision.tensors, TensorNumbers{});
  }
}

TEST(Controller, Undecided_IsWhatThisRankAloneHas) {
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const auto exchange = [&](const std::string& mine) { return bootstrap.all_gather(mine); };
    Controller controller(exchange, bootstrap.rank(), 2, sizes(), 10);
    const bool first = bootstrap.rank() == 0;
    for (int round = 0; round < 2; ++round) {  // as a new tensor, and as a known one
      static_cast<void>(controller.run_cycle(first ? TensorNumbers{4} : TensorNumbers{}, false));
      EXPECT_EQ(controller.undecided(), first ? std::optional(4) : std::nullopt);
      static_cast<void>(controller.run_cycle(first ? TensorNumbers{} : TensorNumbers{4}, false));
      EXPECT_EQ(controller.undecided(), std::nullopt);
    }
  });
}

TEST(Controller, RanksWithOtherSizes_AreACommunicationError) {
  const Error error = error_of([] {
    run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
      const auto exchange = [&](const std::string& mine) { return bootstrap.all_gather(mine); };
      const std::vector<Bytes> mine(kTensors, Bytes{64 + bootstrap.rank()});
      Controller controller(exchange, bootstrap.rank(), 2, mine, 10);
      static_cast<void>(controller.run_cycle({0}, false));
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  EXPECT_TRUE(mentions(error, "64 bytes on rank 0 and 65 on rank 1")) << error.what();
}

}  // namespace
}  // namespace tandem::ddp::horovod
