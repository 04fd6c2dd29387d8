// SPDX-License-Identifier: Apache-2.0
#include "common/comm/transports/device_team.h"

#include <gtest/gtest.h>

#include "common/runtime/copy.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

std::vector<Device*> all_of(Platform& platform) {
  std::vector<Device*> devices;
  for (int i = 0; i < platform.device_count(); ++i) devices.push_back(&platform.device(i));
  return devices;
}

TEST(DeviceTeamTest, OneThread_CallsOnAllDevices) {
  const auto platform = host_devices(3);
  DeviceTeam team(all_of(*platform));
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Buffer>> values;
  for (int i = 0; i < 3; ++i) {
    Device& device = platform->device(i);
    streams.push_back(device.make_stream(StreamPriority::kNormal));
    values.push_back(device.allocate(bytes_of<float>(5)));
    put(device, values.back()->as<float>(), std::vector<float>(5, static_cast<float>(i + 1)));
  }
  team.together([&] {
    for (std::size_t i = 0; i < 3; ++i) {
      team.rank(static_cast<int>(i))
          .all_reduce(*streams[i], values[i]->as<float>(), ReduceOp::kSum);
    }
  });
  for (std::size_t i = 0; i < 3; ++i) {
    streams[i]->synchronize();
    EXPECT_EQ(read_back<float>(platform->device(static_cast<int>(i)), values[i]->as<float>()),
              std::vector<float>(5, 6.0F));
  }
}

TEST(DeviceTeamTest, RankThatCannotBeMade_IsAnErrorAtOnce) {
  PlatformOptions options;
  options.devices = 2;
  options.oversubscribe = true;
  options.device_memory = {mib(64), kib(4)};  // the second has no room for a communicator's stage
  const auto platform = host::make_host_platform(options);
  const auto devices = all_of(*platform);
  EXPECT_EQ(error_of([&] { DeviceTeam team(devices); }).kind(), ErrorKind::kOutOfMemory);
}

TEST(DeviceTeamTest, NcclServesNoHostDevices) {
  const auto platform = host_devices(2);
  EXPECT_FALSE(nccl_serves(all_of(*platform)).possible);
}

}  // namespace
}  // namespace tandem::test
