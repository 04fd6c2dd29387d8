// SPDX-License-Identifier: Apache-2.0
//
// What every communicator refuses, and what its ranks find out together.
#include <gtest/gtest.h>

#include "tests/comm/communicator_contract.h"
#include "tests/comm/contract_cases.h"

namespace tandem::test {
namespace {

TEST_P(CommunicatorContract, MoreMemoryThanThereIs_IsOutOfMemoryOnAllRanks_AndAllGoOn) {
  GetParam().run([](ContractRank& on) {
    const Error error =
        error_of([&] { static_cast<void>(on.communicator->allocate(gib(1 << 20))); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory) << error.what();
    const auto buffer = on.memory<float>(Memory::kAllocated, 10);
    expect_all_reduce_in_place(on, buffer.span(), ReduceOp::kSum);
  });
}

// Each is refused at the call, and nothing of it is queued.
TEST_P(CommunicatorContract, CallsThatDoNotFit_AreLogicErrors) {
  GetParam().run([](ContractRank& on) {
    const auto buffer = on.memory<float>(Memory::kAllocated, 64 * on.size);
    const Span<float> all = buffer.span();
    const Span<float> some = all.subspan(0, 7);
    Communicator& ranks = *on.communicator;
    const auto refused = [&](const std::function<void()>& call) {
      EXPECT_EQ(error_of(call).kind(), ErrorKind::kLogic);
    };
    for (const int root : {-1, on.size}) {
      refused([&] { ranks.broadcast(*on.stream, all, root); });
      refused([&] { ranks.reduce(*on.stream, all, root); });
    }
    refused([&] { ranks.all_reduce(*on.stream, all, some, ReduceOp::kSum); });
    refused([&] {
      ranks.all_reduce(*on.stream, all, buffer.buffer->as<BFloat16>(all.size()), ReduceOp::kSum);
    });
    EXPECT_NO_THROW(on.stream->synchronize());
  });
}

TEST_P(CommunicatorContract, BlocksThatDoNotFit_AreLogicErrors) {
  GetParam().run([](ContractRank& on) {
    const auto buffer = on.memory<float>(Memory::kAllocated, 64);
    const Span<float> all = buffer.span();
    const auto refused = [&](std::int64_t mine, const std::vector<Block>& blocks) {
      const Error error = error_of([&] {
        on.communicator->scatter(*on.stream, all, all.subspan(0, mine), blocks, on.rank);
      });
      EXPECT_EQ(error.kind(), ErrorKind::kLogic);
    };
    const auto ranks = static_cast<std::size_t>(on.size);
    refused(4, std::vector<Block>(ranks + 1, {0, 4}));  // more than ranks
    refused(3, std::vector<Block>(ranks, {0, 4}));      // another size than mine
    refused(4, std::vector<Block>(ranks, {61, 4}));     // past the end
    refused(4, std::vector<Block>(ranks, {-1, 4}));     // before the start
  });
}

// Different collectives are found out before data moves, on all ranks.
void expect_mismatch(const ContractSetting& setting, const RankBody& enqueue) {
  const auto checked = [](int) { return CommunicatorOptions{.check_order = OrderCheck::kAlways}; };
  setting.run(
      [&](ContractRank& on) {
        if (on.size == 1) return;  // nobody to differ from
        enqueue(on);
      },
      checked);
}

// At the call, or at the stream's next synchronize().
void expect_told(ContractRank& on, const std::function<void()>& call) {
  const Error error = error_of([&] {
    call();
    on.stream->synchronize();
  });
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  EXPECT_TRUE(mentions(error, "different collectives")) << error.what();
  EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kDiverged);
}

TEST_P(CommunicatorContract, DifferentRoots_AreACommunicationErrorOnAll) {
  expect_mismatch(GetParam(), [](ContractRank& on) {
    const auto values = on.memory<float>(Memory::kOther, 64);
    expect_told(
        on, [&] { on.communicator->broadcast(*on.stream, values.span(), on.rank == 0 ? 0 : 1); });
  });
}

TEST_P(CommunicatorContract, DifferentSizes_AreACommunicationErrorOnAll) {
  expect_mismatch(GetParam(), [](ContractRank& on) {
    const auto values = on.memory<float>(Memory::kOther, 64);
    const Span<float> mine = values.span().subspan(0, on.rank == 0 ? 32 : 33);
    expect_told(on, [&] { on.communicator->all_reduce(*on.stream, mine, ReduceOp::kSum); });
  });
}

TEST_P(CommunicatorContract, DifferentTypes_AreACommunicationErrorOnAll) {
  expect_mismatch(GetParam(), [](ContractRank& on) {
    const auto values = on.memory<float>(Memory::kOther, 64);
    const AnySpan mine = on.rank == 0 ? AnySpan(values.buffer->as<BFloat16>(32))
                                      : AnySpan(values.buffer->as<Float16>(32));
    expect_told(on, [&] { on.communicator->all_reduce(*on.stream, mine, ReduceOp::kSum); });
  });
}

TEST_P(CommunicatorContract, DifferentReductions_AreACommunicationErrorOnAll) {
  expect_mismatch(GetParam(), [](ContractRank& on) {
    const auto values = on.memory<float>(Memory::kOther, 64);
    const ReduceOp op = on.rank == 0 ? ReduceOp::kSum : ReduceOp::kAverage;
    expect_told(on, [&] { on.communicator->all_reduce(*on.stream, values.span(), op); });
  });
}

}  // namespace
}  // namespace tandem::test
