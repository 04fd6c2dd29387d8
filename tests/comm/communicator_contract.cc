// SPDX-License-Identifier: Apache-2.0
//
// What every communicator does, whatever moves the data and wherever its ranks run.
#include "tests/comm/communicator_contract.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/comm/contract_cases.h"

namespace tandem::test {
namespace {

void on_ranks(const ContractSetting& setting, const RankBody& body) { setting.run(body); }

// In every type, on memory of every kind: body(rank, zero, memory).
template <class Body>
void on_all_memory(const ContractSetting& setting, Body&& body) {
  setting.run([&](ContractRank& on) {
    for_each_type([&](auto zero) {
      for (const Memory memory : kMemories) body(on, zero, memory);
    });
  });
}

TEST_P(CommunicatorContract, AllReduce_InPlace_IsTheSumOrAverage) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    for (const std::int64_t count : {1, 16, 1001}) {
      const auto buffer = on.memory<T>(memory, count);
      for (const ReduceOp op : kReductions) {
        expect_all_reduce_in_place(on, buffer.span(), op);
      }
    }
  });
}

TEST_P(CommunicatorContract, AllReduce_FromPlaceToPlace_LeavesMineAsItIs) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    const auto mine = on.memory<T>(memory, 1001);
    const auto result = on.memory<T>(memory, 1001);
    on.put_own(mine.span());
    on.communicator->all_reduce(*on.stream, mine.span(), result.span(), ReduceOp::kAverage);
    on.stream->synchronize();
    EXPECT_PRED2(same_elements, on.held(result.span()), on.reduced<T>(1001, ReduceOp::kAverage));
    EXPECT_PRED2(same_elements, on.held(mine.span()), on.values_of<T>(on.rank, 1001));
  });
}

TEST_P(CommunicatorContract, AllReduce_OfAPart_LeavesTheRestAlone) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    const auto buffer = on.memory<T>(memory, 300);
    const std::vector<T> before(300, T(9.0F));
    on.put(buffer.span(), before);
    expect_all_reduce_in_place(on, buffer.span().subspan(7, 200), ReduceOp::kSum);
    const std::vector<T> all = on.held(buffer.span());
    EXPECT_TRUE(std::equal(all.begin(), all.begin() + 7, before.begin()));
    EXPECT_TRUE(std::equal(all.begin() + 207, all.end(), before.begin()));
  });
}

TEST_P(CommunicatorContract, AllReduce_OfTwoChunks_IsWhole) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    const auto buffer = on.memory<T>(memory, kTwoChunks<T>);
    expect_all_reduce_in_place(on, buffer.span(), ReduceOp::kSum);
  });
}

TEST_P(CommunicatorContract, Broadcast_GivesAllRootsValues_FromAnyRoot) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    for (int root = 0; root < on.size; ++root) {
      const std::int64_t count = root == 0 ? kTwoChunks<T> : 2 * root - 1;
      const auto buffer = on.memory<T>(memory, count);
      on.put_own(buffer.span());
      on.communicator->broadcast(*on.stream, buffer.span(), root);
      on.stream->synchronize();
      EXPECT_PRED2(same_elements, on.held(buffer.span()), on.values_of<T>(root, count));
    }
  });
}

TEST_P(CommunicatorContract, Reduce_SumsIntoRootsValues_AndLeavesOthersAlone) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    for (int root = 0; root < on.size; ++root) {
      const std::int64_t count = root == 0 ? kTwoChunks<T> : 2 * root - 1;
      const auto buffer = on.memory<T>(memory, count);
      on.put_own(buffer.span());
      on.communicator->reduce(*on.stream, buffer.span(), root);
      on.stream->synchronize();
      EXPECT_PRED2(
          same_elements, on.held(buffer.span()),
          on.rank == root ? on.reduced<T>(count, ReduceOp::kSum) : on.values_of<T>(on.rank, count));
    }
  });
}

TEST_P(CommunicatorContract, Reduce_FromPlaceToPlace_LeavesAllPartsAsTheyAre) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    using T = decltype(zero);
    const int root = on.size - 1;
    for (const std::int64_t count : {std::int64_t{3}, kTwoChunks<T>}) {
      const auto mine = on.memory<T>(memory, count);
      const auto result = on.memory<T>(memory, count);
      on.put_own(mine.span());
      const bool is_root = on.rank == root;
      on.communicator->reduce(*on.stream, mine.span(), is_root ? result.span() : Span<T>{}, root);
      on.stream->synchronize();
      EXPECT_PRED2(same_elements, on.held(mine.span()), on.values_of<T>(on.rank, count));
      if (is_root) {
        EXPECT_PRED2(same_elements, on.held(result.span()), on.reduced<T>(count, ReduceOp::kSum));
      }
    }
  });
}

TEST_P(CommunicatorContract, ScatterAndGather_MoveUnevenAndEmptyBlocks) {
  on_all_memory(GetParam(), [](ContractRank& on, auto zero, Memory memory) {
    for (int root = 0; root < on.size; ++root) {
      const BlocksCase<decltype(zero)> blocks(on, memory, 1001, root);
      blocks.expect_scatter();
      blocks.expect_gather();
    }
  });
}

TEST_P(CommunicatorContract, ScatterAndGather_OfTwoChunks_AreWhole) {
  on_ranks(GetParam(), [](ContractRank& on) {
    for (const Memory memory : kMemories) {
      const BlocksCase<BFloat16> blocks(on, memory, kTwoChunks<BFloat16>, on.size - 1);
      blocks.expect_scatter();
      blocks.expect_gather();
    }
  });
}

TEST_P(CommunicatorContract, ScatterAndGather_OfTheHostsMemory_ReachAll) {
  on_ranks(GetParam(), [](ContractRank& on) {
    std::vector<float> batch = on.values_of<float>(9, 64 * on.size);
    std::vector<float> back(batch.size(), 0);
    const auto mine = on.memory<float>(Memory::kOther, 64);
    std::vector<Block> blocks;
    for (int peer = 0; peer < on.size; ++peer) blocks.push_back({64 * peer, 64});
    const bool root = on.rank == 0;
    on.communicator->scatter(*on.stream, root ? on_host(batch) : Span<float>{}, mine.span(), blocks,
                             0);
    on.communicator->gather(*on.stream, mine.span(), root ? on_host(back) : Span<float>{}, blocks,
                            0);
    on.stream->synchronize();
    const auto first = batch.begin() + 64 * on.rank;
    EXPECT_PRED2(same_elements, on.held(mine.span()), std::vector<float>(first, first + 64));
    if (root) {
      EXPECT_EQ(back, batch);
    }
  });
}

TEST_P(CommunicatorContract, Collectives_OfNothing_AreDone) {
  on_ranks(GetParam(), [](ContractRank& on) {
    const std::vector<Block> none(static_cast<std::size_t>(on.size));
    on.communicator->scatter(*on.stream, Span<float>{}, Span<float>{}, none, 0);
    on.communicator->gather(*on.stream, Span<float>{}, Span<float>{}, none, 0);
    EXPECT_NO_THROW(on.stream->synchronize());
  });
}

TEST_P(CommunicatorContract, Collectives_QueuedInARow_RunInOrder) {
  on_ranks(GetParam(), [](ContractRank& on) {
    const auto buffer = on.memory<float>(Memory::kAllocated, 100);
    on.put(buffer.span(), std::vector<float>(100, 1));
    for (int i = 0; i < 5; ++i) {
      on.communicator->all_reduce(*on.stream, buffer.span(), ReduceOp::kSum);
    }
    on.communicator->broadcast(*on.stream, buffer.span(), 0);
    on.stream->synchronize();
    EXPECT_PRED2(same_elements, on.held(buffer.span()),
                 std::vector<float>(100, std::pow(static_cast<float>(on.size), 5.0F)));
  });
}

TEST_P(CommunicatorContract, AllGatherOnTheHost_IsInRankOrder_RoundAfterRound) {
  on_ranks(GetParam(), [](ContractRank& on) {
    const auto text_of = [](int rank, int round) {
      return std::string(static_cast<std::size_t>(5000 * rank * round),
                         static_cast<char>('a' + rank));
    };
    for (int round = 0; round < 5; ++round) {
      on.communicator->barrier();
      const auto numbers = on.communicator->all_gather(on.rank + 0.5 * round);
      const auto texts = on.communicator->all_gather(text_of(on.rank, round));
      ASSERT_EQ(numbers.size(), static_cast<std::size_t>(on.size));
      ASSERT_EQ(texts.size(), static_cast<std::size_t>(on.size));
      for (int peer = 0; peer < on.size; ++peer) {
        EXPECT_EQ(numbers[static_cast<std::size_t>(peer)], peer + 0.5 * round);
        EXPECT_EQ(texts[static_cast<std::size_t>(peer)], text_of(peer, round));
      }
    }
  });
}

// A rank's thread meets others while its stream does.
TEST_P(CommunicatorContract, AllGatherOnTheHost_WhileACollectiveRuns_IsIndependent) {
  on_ranks(GetParam(), [](ContractRank& on) {
    const auto buffer = on.memory<float>(Memory::kOther, kTwoChunks<float>);
    on.put_own(buffer.span());
    on.communicator->all_reduce(*on.stream, buffer.span(), ReduceOp::kSum);
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(on.communicator->all_gather(1.0 * on.rank).back(), on.size - 1);
    }
    on.stream->synchronize();
    EXPECT_PRED2(same_elements, on.held(buffer.span()),
                 on.reduced<float>(kTwoChunks<float>, ReduceOp::kSum));
  });
}

TEST_P(CommunicatorContract, Observer_IsToldOfEachCollective_InOrder) {
  std::vector<RecordingObserver> observers(static_cast<std::size_t>(kMostRanks));
  const auto observer_of = [&observers](int rank) {
    return &observers[static_cast<std::size_t>(rank)];
  };
  GetParam().run(
      [&](ContractRank& on) {
        const auto buffer = on.memory<float>(Memory::kAllocated, 10);
        const Span<float> all = buffer.span();
        on.communicator->all_reduce(*on.stream, all, ReduceOp::kSum);
        on.communicator->broadcast(*on.stream, all.subspan(0, 5), 0);
        on.communicator->reduce(*on.stream, all, 0);
        on.stream->synchronize();
        const std::vector<std::string> expected{"#1 all_reduce 40", "#2 broadcast 20",
                                                "#3 reduce 40"};
        ASSERT_TRUE(observer_of(on.rank)->await_finished(expected.size()));
        EXPECT_EQ(observer_of(on.rank)->all_enqueued, expected);
        EXPECT_EQ(observer_of(on.rank)->all_started, expected);
        EXPECT_EQ(observer_of(on.rank)->all_finished, expected);
      },
      [&](int rank) { return CommunicatorOptions{.observer = observer_of(rank)}; });
}

}  // namespace
}  // namespace tandem::test
