// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transports/transport_registry.h"

#include <gtest/gtest.h>

#include "common/comm/thread_bootstrap.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

TEST(TransportRegistryTest, MpiBetweenThreads_IsAUsageErrorOnAll) {
  const auto platform = host_devices(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const Error error = error_of([&] {
      static_cast<void>(
          make_communicator(Transport::kMpi, bootstrap, platform->device(bootstrap.rank())));
    });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_TRUE(mentions(error, "a process for each rank")) << error.what();
  });
}

}  // namespace
}  // namespace tandem::test
