// SPDX-License-Identifier: Apache-2.0
//
// What is MPI's alone. Every rank runs every case.
#include "common/comm/mpi/mpi_communicator.h"

#include <gtest/gtest.h>

#include "tests/comm/contract_rank.h"
#include "tests/comm/mpi_world.h"

namespace tandem::test {
namespace {

TEST(MpiCommunicatorTest, RanksOfAPart_AreNamedByTheJobsNumbers) {
  const auto platform = host_devices(world().size());
  const auto half = world().split(world().rank() % 2);  // even ranks, and odd ones
  EXPECT_EQ(own_job_rank(*half), world().rank());
  {
    const ContractRank on(*half, *platform, Transport::kMpi, {});
    on.communicator->abort();
    const Error error = error_of([&] { on.communicator->barrier(); });
    EXPECT_TRUE(mentions(error, fmt::format("rank {}: the", world().rank()))) << error.what();
  }
  barrier(world());
}

TEST(MpiCommunicatorTest, RanksOfAPart_MeetAmongThemselves) {
  const auto platform = host_devices(world().size());
  const auto half = world().split(world().rank() % 2);  // even ranks, and odd ones
  const ContractRank on(*half, *platform, Transport::kMpi, {});
  std::vector<double> expected;
  for (int peer = world().rank() % 2; peer < world().size(); peer += 2) expected.push_back(peer);
  EXPECT_EQ(on.communicator->all_gather(world().rank()), expected);
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
