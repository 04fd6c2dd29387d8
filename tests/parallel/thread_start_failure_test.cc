// SPDX-License-Identifier: Apache-2.0
//
// What happens where a process may start no further thread. pthread_create is replaced here by one
// that refuses on demand.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>

#include "common/comm/thread_bootstrap.h"
#include "common/parallel/independent.h"
#include "common/runtime/device_threads.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace {

std::atomic<int> starts_left{INT_MAX};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  if (starts_left.fetch_sub(1) <= 0) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}

namespace tandem::test {
namespace {

// Runs `body` with one thread to start.
Error error_with_one_thread(const std::function<void()>& body) {
  starts_left = 1;
  const Error error = error_of(body);
  starts_left = INT_MAX;
  return error;
}

class ThreadStartFailureTest : public testing::Test {
 protected:
  const std::unique_ptr<Platform> platform_ = host_devices(3);
  const std::vector<Device*> devices_ = devices_of(*platform_);
};

TEST_F(ThreadStartFailureTest, NewThreads_AreJoinedAndItIsOneError) {
  const Error error = error_with_one_thread(
      [this] { start_device_threads(devices_, ThreadLife::kOneRun)->run([](int) {}); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
}

TEST_F(ThreadStartFailureTest, KeptThreads_AreJoinedAndItIsOneError) {
  const Error error = error_with_one_thread(
      [this] { static_cast<void>(start_device_threads(devices_, ThreadLife::kKept)); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
}

TEST_F(ThreadStartFailureTest, Ranks_WaitForNobodyWhoNeverStarted) {
  const Error error = error_with_one_thread(
      [] { run_ranks_as_threads(3, [](Bootstrap& bootstrap) { barrier(bootstrap); }); });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
}

}  // namespace
}  // namespace tandem::test
