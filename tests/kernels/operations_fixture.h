// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/kernels/host/host_operations.h"
#include "common/runtime/host/host_platform.h"
#include "tests/kernels/naive/naive.h"

namespace tandem {

// The text of the logic error that `function` throws.
template <class Function>
[[nodiscard]] std::string logic_error_of(Function&& function) {
  const auto error = capture_error([&] { function(); });
  EXPECT_TRUE(!error || error->kind() == ErrorKind::kLogic);
  return error ? error->what() : "no error";
}

// Two host devices with a stream and operations on the first, and memory that lives as long as the
// test. Host devices' memory is readable here once the stream is synchronised.
class OperationsFixture : public ::testing::Test {
 public:
  Device& device(int index = 0) { return platform_->device(index); }
  Stream& stream() { return *stream_; }
  host::HostOperations& operations() { return operations_; }

  Span<float> zeros(std::int64_t count, int device_index = 0) {
    buffers_.push_back(device(device_index).allocate(Bytes{4 * count}));
    return buffers_.back()->as<float>(count);
  }

  // Another call, other values.
  Span<float> random(std::int64_t count, Distribution distribution = Distribution::kUniform) {
    const Span<float> values = zeros(count);
    naive(FillRandom{.values = values, .seed = ++seed_, .distribution = distribution});
    return values;
  }

  Span<float> filled(const std::vector<float>& from) {
    const Span<float> values = zeros(static_cast<std::int64_t>(from.size()));
    std::copy(from.begin(), from.end(), values.begin());
    return values;
  }

  Span<float> copy_of(Span<const float> from) {
    return filled(std::vector<float>(from.begin(), from.end()));
  }

  template <class Op>
  void run(const Op& op) {
    operations().enqueue(stream(), op);
    stream().synchronize();
  }

  // The error about an operation that is refused before any work is enqueued.
  template <class Op>
  std::string refusal_of(const Op& op) {
    return logic_error_of([&] { operations().enqueue(stream(), op); });
  }

 private:
  static std::unique_ptr<Platform> two_devices() {
    PlatformOptions options;
    options.devices = 2;
    options.oversubscribe = true;  // the second one only lends its name
    return host::make_host_platform(options);
  }

  std::unique_ptr<Platform> platform_ = two_devices();
  std::vector<std::unique_ptr<Buffer>> buffers_;
  host::HostOperations operations_{platform_->device(0)};
  std::unique_ptr<Stream> stream_ = platform_->device(0).make_stream(StreamPriority::kNormal);
  std::uint64_t seed_ = 0;
};

// Tolerance 0 asks for the same bits (up to the sign of zero).
inline void expect_near(Span<const float> actual, Span<const float> expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::int64_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual.data()[i], expected.data()[i], tolerance) << "at element " << i;
  }
}

inline void expect_equal(Span<const float> actual, Span<const float> expected) {
  expect_near(actual, expected, 0);
}

}  // namespace tandem
