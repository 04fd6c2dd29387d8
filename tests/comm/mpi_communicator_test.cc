// SPDX-License-Identifier: Apache-2.0
//
// What is MPI's alone. Every rank runs every case.
#include "common/comm/mpi_communicator.h"

#include <gtest/gtest.h>

#include "tests/comm/contract_rank.h"
#include "tests/comm/mpi_world.h"

namespace tandem::test {
namespace {

// The ranks of the world with an even number, or with an odd one: two jobs side by side.
class HalfOfTheWorld final : public Bootstrap {
 public:
  [[nodiscard]] int rank() const override { return world().rank() / 2; }
  [[nodiscard]] int size() const override { return (world().size() + 1 - parity()) / 2; }
  [[nodiscard]] bool shares_address_space() const override { return false; }
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) override {
    const std::vector<std::string> all = world().all_gather(mine);
    std::vector<std::string> half;
    for (std::size_t i = static_cast<std::size_t>(parity()); i < all.size(); i += 2) {
      half.push_back(all[i]);
    }
    return half;
  }
  void abort(int exit_code) override { world().abort(exit_code); }

 private:
  [[nodiscard]] static int parity() { return world().rank() % 2; }
};

TEST(MpiCommunicatorTest, RanksOfAPartOfTheJob_MeetAmongThemselves) {
  const auto platform = host_devices(world().size());
  HalfOfTheWorld half;
  const ContractRank on(half, *platform, Transport::kMpi, {});
  std::vector<double> expected;
  for (int peer = world().rank() % 2; peer < world().size(); peer += 2) expected.push_back(peer);
  EXPECT_EQ(on.communicator->all_gather(world().rank()), expected);
  barrier(world());
}

TEST(MpiCommunicatorTest, MessageOfAnotherSize_IsACommunicationError) {
  const auto platform = host_devices(world().size());
  {
    const ContractRank on(world(), *platform, Transport::kMpi, {});
    const auto values = on.memory<float>(Memory::kOther, 64);
    if (on.rank == 0) on.communicator->send(*on.stream, values.span().subspan(0, 30), 1);
    if (on.rank == 1) {
      on.communicator->recv(*on.stream, values.span().subspan(0, 40), 0);
      const Error error = error_of([&] { on.stream->synchronize(); });
      EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
      EXPECT_TRUE(mentions(error, "rank 0 sent 30 elements")) << error.what();
    }
    if (on.rank == 0) on.stream->synchronize();
  }
  barrier(world());
}

TEST(MpiCommunicatorTest, AfterAnAbort_CallsOfThisRankFailAtOnce) {
  const auto platform = host_devices(world().size());
  {
    const ContractRank on(world(), *platform, Transport::kMpi, {});
    on.communicator->abort();
    const auto values = on.memory<float>(Memory::kOther, 64);
    on.communicator->all_reduce(*on.stream, values.span(), ReduceOp::kSum);
    EXPECT_TRUE(mentions(error_of([&] { on.stream->synchronize(); }), "aborted"));
    EXPECT_TRUE(mentions(error_of([&] { on.communicator->barrier(); }), "aborted"));
  }
  barrier(world());  // the job goes on: nobody waited in that communicator
}

}  // namespace
}  // namespace tandem::test
