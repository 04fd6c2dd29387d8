// SPDX-License-Identifier: Apache-2.0
//
// main of tests whose ranks are processes: every rank runs the same cases in the same order.
//
//   mpi_test --lose-rank=WAY:TRANSPORT   see lost_rank.h
//   mpi_test --stop-at-the-end           rank 1 stops itself where it should end
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <string_view>

#include "common/comm/mpi/mpi_bootstrap.h"
#include "tests/comm/lost_rank.h"
#include "tests/comm/mpi_world.h"

namespace tandem::test {
namespace {

Bootstrap* world_bootstrap = nullptr;

// Reports failures of every rank, but all else of rank 0 only.
void silence_other_ranks(int rank) {
  if (rank == 0) return;
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  class Failures final : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) std::cerr << "another rank: " << result.message() << std::endl;
    }
  };
  listeners.Append(new Failures);  // gtest's from here on
}

}  // namespace

Bootstrap& world() { return *world_bootstrap; }

}  // namespace tandem::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  constexpr std::string_view kStopAtTheEnd = "--stop-at-the-end";
  tandem::MpiSession mpi(argc, argv,
                         {.deadline = std::chrono::seconds(mode == kStopAtTheEnd ? 3 : 60)});
  const auto bootstrap = mpi.bootstrap();
  if (mode == kStopAtTheEnd) return bootstrap->rank() == 1 ? raise(SIGSTOP) : 0;
  constexpr std::string_view kLoseRank = "--lose-rank=";
  if (mode.starts_with(kLoseRank)) {
    tandem::test::lose_a_rank(*bootstrap, mode.substr(kLoseRank.size()));
    return 0;
  }
  tandem::test::world_bootstrap = bootstrap.get();
  tandem::test::silence_other_ranks(bootstrap->rank());
  return RUN_ALL_TESTS();
}
