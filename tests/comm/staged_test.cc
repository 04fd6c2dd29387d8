// SPDX-License-Identifier: Apache-2.0
#include "common/comm/staged.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/runtime/copy.h"
#include "common/runtime/host/host_stream.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

struct StagedRank {
  StagedRank(Bootstrap& bootstrap, Device& its_device, Nanoseconds deadline)
      : device(its_device),
        stream(device.make_stream(StreamPriority::kNormal)),
        values(device.allocate(bytes_of<float>(8))),
        communicator(make_staged_communicator(
            bootstrap, device, {.deadline = deadline},
            [&](Device& host, const CommunicatorOptions& options) {
              return make_shared_memory_communicator(bootstrap, host, options);
            })) {}

  [[nodiscard]] Span<float> span() { return values->as<float>(); }

  Device& device;
  const std::unique_ptr<Stream> stream;
  const std::unique_ptr<Buffer> values;
  const std::unique_ptr<Communicator> communicator;
};

void on_ranks(int ranks, Nanoseconds deadline, const std::function<void(StagedRank&, int)>& body) {
  const auto platform = host_devices(ranks);
  run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
    StagedRank rank(bootstrap, platform->device(bootstrap.rank()), deadline);
    body(rank, bootstrap.rank());
    barrier(bootstrap);
  });
}

// The stage is one: a call on another stream waits until the last one's result has left it.
TEST(StagedTest, CallsOnTwoStreams_DoNotMeetInTheStage) {
  on_ranks(2, std::chrono::seconds(20), [](StagedRank& on, int rank) {
    const auto other = on.device.make_stream(StreamPriority::kNormal);
    const Span<float> first = on.span().subspan(0, 4);
    const Span<float> second = on.span().subspan(4, 4);
    put(on.device, first, std::vector<float>(4, static_cast<float>(rank + 1)));
    put(on.device, second, std::vector<float>(4, static_cast<float>(10 * (rank + 1))));
    for (int i = 0; i < 20; ++i) {
      on.stream->delay(std::chrono::microseconds(100));
      on.communicator->broadcast(*on.stream, first, 0);
      on.communicator->broadcast(*other, second, 1);
    }
    on.stream->synchronize();
    other->synchronize();
    EXPECT_EQ(read_back<float>(on.device, first), std::vector<float>(4, 1.0F));
    EXPECT_EQ(read_back<float>(on.device, second), std::vector<float>(4, 20.0F));
  });
}

TEST(StagedTest, RankWhoseStreamHasFailed_ThrowsItsError_AndEndsTheOthersAtOnce) {
  on_ranks(2, std::chrono::hours(1), [](StagedRank& on, int rank) {
    if (rank == 1) {
      host::host_stream(*on.stream).enqueue({"fault", {}, [] {
                                               fail(ErrorKind::kFailure, "planted");
                                             }});
    }
    const Error error =
        error_of([&] { on.communicator->all_reduce(*on.stream, on.span(), ReduceOp::kSum); });
    EXPECT_EQ(error.kind(), rank == 1 ? ErrorKind::kFailure : ErrorKind::kCommunication)
        << error.what();
  });
}

}  // namespace
}  // namespace tandem::test
