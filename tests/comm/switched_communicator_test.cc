// SPDX-License-Identifier: Apache-2.0
#include "common/comm/switched_communicator.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/runtime/copy.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

TEST(SwitchedCommunicatorTest, AllReducesAreLeftOut_AndNothingElse) {
  const auto platform = host_devices(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    Device& device = platform->device(bootstrap.rank());
    const auto is_on = std::make_shared<std::atomic<bool>>(true);
    SwitchedCommunicator communicator(make_shared_memory_communicator(bootstrap, device, {}),
                                      is_on);
    Communicator& switched = communicator;
    const auto stream = device.make_stream(StreamPriority::kNormal);
    const auto buffer = switched.allocate(bytes_of<float>(4));
    const Span<float> values = buffer->as<float>();
    const auto after = [&](const auto& call) {
      put(device, values, std::vector<float>(4, static_cast<float>(bootstrap.rank() + 1)));
      call();
      stream->synchronize();
      return read_back<float>(device, values).front();
    };
    const auto reduce = [&] { switched.all_reduce(*stream, values, ReduceOp::kSum); };
    EXPECT_EQ(after(reduce), 3);
    *is_on = false;
    EXPECT_EQ(after(reduce), bootstrap.rank() + 1);
    EXPECT_EQ(after([&] { switched.broadcast(*stream, values, 1); }), 2);
    EXPECT_EQ(switched.all_gather(bootstrap.rank() + 0.5), (std::vector<double>{0.5, 1.5}));
    switched.barrier();
    *is_on = true;
    EXPECT_EQ(after(reduce), 3);
    EXPECT_EQ(switched.rank(), bootstrap.rank());
    EXPECT_EQ(switched.size(), 2);
  });
}

}  // namespace
}  // namespace tandem::test
