// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/device_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <latch>
#include <thread>

#include "common/runtime/host/host_device.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

constexpr int kDevices = 3;

// The only core that the calling thread may run on; -1 where there are several.
int bound_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) return -1;
  int core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  return core;
}

class DeviceThreadsTest : public testing::Test {
 protected:
  using Body = std::function<void(int)>;

  // Both kinds keep the same promises.
  void with_both(const std::function<void(const std::function<void(const Body&)>&)>& test) {
    for (const ThreadLife life : {ThreadLife::kOneRun, ThreadLife::kKept}) {
      const auto threads = start_device_threads(devices_, life);
      test([&threads](const Body& body) { threads->run(body); });
    }
  }

  const std::unique_ptr<Platform> platform_ = host_devices(kDevices);
  const std::vector<Device*> devices_{&platform_->device(0), &platform_->device(1),
                                      &platform_->device(2)};
};

TEST_F(DeviceThreadsTest, Body_RunsOncePerDeviceOnItsCore) {
  with_both([this](const auto& run) {
    std::array<int, kDevices> cores{};
    run([&cores](int i) { cores[static_cast<std::size_t>(i)] = bound_core(); });
    for (std::size_t i = 0; i < kDevices; ++i) {
      EXPECT_EQ(cores[i], host::host_device(*devices_[i]).core());
    }
  });
}

TEST_F(DeviceThreadsTest, Bodies_RunAtTheSameTime) {
  with_both([](const auto& run) {
    std::latch all_here(kDevices);  // would hang if one had to end before the next begins
    run([&all_here](int) { all_here.arrive_and_wait(); });
    EXPECT_TRUE(all_here.try_wait());
  });
}

TEST_F(DeviceThreadsTest, LowestIndex_IsThrown_NotTheFirstInTime) {
  with_both([](const auto& run) {
    std::latch later_failed(1);
    const Error error = error_of([&] {
      run([&](int i) {
        if (i == 0) return;
        if (i == 1) later_failed.wait();
        if (i == 2) later_failed.count_down();
        fail(ErrorKind::kFailure, "replica {}", i);
      });
    });
    EXPECT_STREQ(error.what(), "replica 1");
  });
}

TEST_F(DeviceThreadsTest, AllAreJoined_BeforeAnythingIsThrown) {
  with_both([](const auto& run) {
    std::latch failed(1);
    std::atomic<int> ended = 0;
    static_cast<void>(error_of([&] {
      run([&](int i) {
        if (i == 0) {
          failed.count_down();
          fail(ErrorKind::kFailure, "early");
        }
        failed.wait();
        ++ended;
      });
    }));
    EXPECT_EQ(ended, kDevices - 1);
  });
}

TEST_F(DeviceThreadsTest, ErrorsKind_IsKept) {
  with_both([](const auto& run) {
    const Error error = error_of([&] { run([](int) { fail(ErrorKind::kOutOfMemory, "full"); }); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  });
}

TEST_F(DeviceThreadsTest, KeptThreads_AreTheSameInEveryRound_NewOnesAreNot) {
  const auto kept = start_device_threads(devices_, ThreadLife::kKept);
  std::array<std::thread::id, kDevices> first;
  kept->run([&](int i) { first[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
  for (int round = 0; round < 50; ++round) {
    kept->run(
        [&](int i) { EXPECT_EQ(std::this_thread::get_id(), first[static_cast<std::size_t>(i)]); });
  }
  start_device_threads(devices_, ThreadLife::kOneRun)->run([&](int i) {
    EXPECT_NE(std::this_thread::get_id(), first[static_cast<std::size_t>(i)]);
    EXPECT_NE(std::this_thread::get_id(), std::thread::id{});
  });
}

TEST_F(DeviceThreadsTest, KeptThreads_ForgetAFailureInTheNextRound) {
  const auto kept = start_device_threads(devices_, ThreadLife::kKept);
  static_cast<void>(error_of([&] { kept->run([](int) { fail(ErrorKind::kFailure, "once"); }); }));
  EXPECT_NO_THROW(kept->run([](int) {}));
}

TEST_F(DeviceThreadsTest, KeptThreads_NeverUsed_EndAtOnce) {
  EXPECT_NE(start_device_threads(devices_, ThreadLife::kKept), nullptr);
}

}  // namespace
}  // namespace tandem::test
