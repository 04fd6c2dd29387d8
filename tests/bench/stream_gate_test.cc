// SPDX-License-Identifier: Apache-2.0
#include "bench/stream_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::bench {
namespace {

class StreamGateTest : public testing::Test {
 protected:
  void enqueue() {
    host::host_stream(*stream_).enqueue({"work", {}, [this] { ++ran_; }});
  }

  const std::unique_ptr<Platform> platform_ = host::make_host_platform({.devices = 1});
  std::unique_ptr<Stream> stream_ = platform_->device(0).make_stream(StreamPriority::kNormal);
  std::atomic<int> ran_ = 0;
};

TEST_F(StreamGateTest, HoldsWhatComesAfterIt) {
  enqueue();
  StreamGate gate(*stream_);
  enqueue();
  while (ran_ == 0) std::this_thread::yield();
  EXPECT_FALSE(stream_->is_done());
  EXPECT_EQ(ran_, 1);
  gate.open();
  stream_->synchronize();
  EXPECT_EQ(ran_, 2);
}

TEST_F(StreamGateTest, OpensWhereItGoes) {
  std::optional<StreamGate> gate(std::in_place, *stream_);
  enqueue();
  gate.reset();
  stream_.reset();  // waits for what is queued
  EXPECT_EQ(ran_, 1);
}

}  // namespace
}  // namespace tandem::bench
