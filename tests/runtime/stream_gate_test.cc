// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/stream_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::host {
namespace {

class StreamGateTest : public testing::Test {
 protected:
  void enqueue() {
    host_stream(*stream_).enqueue({"work", {}, [this] { ++ran_; }});
  }

  const std::unique_ptr<Platform> platform_ = make_host_platform({.devices = 1});
  std::unique_ptr<Stream> stream_ = platform_->device(0).make_stream(StreamPriority::kNormal);
  std::atomic<int> ran_ = 0;
};

TEST_F(StreamGateTest, HoldsWhatComesAfterIt) {
  enqueue();
  StreamGate gate(*stream_);
  std::atomic<bool> opened = false;
  bool seen_open = false;
  host_stream(*stream_).enqueue({"look", {}, [&] { seen_open = opened; }});
  // The stream sleeps at the gate, or would have looked long before another one has done so much.
  const auto other = platform_->device(0).make_stream(StreamPriority::kNormal);
  for (int i = 0; i < 100; ++i) {
    host_stream(*other).enqueue({"work", {}, [] {}});
    other->synchronize();
  }
  EXPECT_FALSE(stream_->is_done());
  EXPECT_EQ(ran_, 1);
  opened = true;
  gate.open();
  stream_->synchronize();
  EXPECT_TRUE(seen_open);
}

TEST_F(StreamGateTest, OpensWhereItGoes) {
  auto gate = std::make_unique<StreamGate>(*stream_);
  enqueue();
  gate.reset();
  stream_.reset();  // waits for what is queued
  EXPECT_EQ(ran_, 1);
}

}  // namespace
}  // namespace tandem::host
