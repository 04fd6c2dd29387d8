// SPDX-License-Identifier: Apache-2.0
//
// main of tests whose ranks are processes: every rank runs the same cases in the same order.
//
//   mpi_test --die-in=collective   rank 1 kills itself while the others wait in a collective: not a
//                                  test, but what a test of the job's end starts
//   mpi_test --die-in=end          rank 1 stops itself instead of ending; the same
#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>
#include <string_view>

#include "common/comm/mpi_bootstrap.h"
#include "common/comm/shared_memory.h"
#include "tests/comm/mpi_world.h"
#include "tests/support/host_devices.h"

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

int die_in_a_collective(Bootstrap& bootstrap) {
  const auto platform = host_devices(bootstrap.size());
  Device& device = platform->device(bootstrap.rank());
  const auto communicator = make_shared_memory_communicator(bootstrap, device);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  const auto values = communicator->allocate(Bytes{4000});
  if (bootstrap.rank() == 1) raise(SIGKILL);
  communicator->all_reduce(*stream, values->as<float>(), ReduceOp::kSum);
  stream->synchronize();
  return 0;
}

}  // namespace

Bootstrap& world() { return *world_bootstrap; }

}  // namespace tandem::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  tandem::MpiSession mpi(argc, argv,
                         {.deadline = std::chrono::seconds(mode == "--die-in=end" ? 3 : 60)});
  const auto bootstrap = mpi.bootstrap();
  if (mode == "--die-in=end") return bootstrap->rank() == 1 ? raise(SIGSTOP) : 0;
  if (mode == "--die-in=collective") {
    return tandem::test::die_in_a_collective(*bootstrap);
  }
  tandem::test::world_bootstrap = bootstrap.get();
  tandem::test::silence_other_ranks(bootstrap->rank());
  return RUN_ALL_TESTS();
}
