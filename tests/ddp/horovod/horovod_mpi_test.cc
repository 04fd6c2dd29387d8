// SPDX-License-Identifier: Apache-2.0
//
// Horovod's reducer with ranks as processes.
#include <gtest/gtest.h>

#include "tests/comm/mpi_world.h"
#include "tests/ddp/horovod/horovod_rank.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

class HorovodMpiTest : public testing::Test {
 protected:
  const Job job_{.ranks = world().size()};
  const std::unique_ptr<Platform> platform_ = make_devices(job_);
};

TEST_F(HorovodMpiTest, Gradients_AreAveraged_WhateverTheirOrder) {
  HorovodRank rank(*platform_, world(), job_.options);
  for (int step = 0; step < job_.steps; ++step) {
    rank.run_step(step, shuffled(job_, rank.rank, step));
    rank.check_averages(step);
  }
}

TEST_F(HorovodMpiTest, RankThatLeaves_FailsThoseWhoWaitForItsGradients) {
  HorovodRank rank(*platform_, world(), job_.options);
  rank.run_step(0, kBackward);
  if (rank.rank == 1) return rank.reducer.reset();
  EXPECT_EQ(error_of([&] { rank.run_step(1, kBackward); }).kind(), ErrorKind::kCommunication);
}

}  // namespace
}  // namespace tandem::test
