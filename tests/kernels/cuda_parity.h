// SPDX-License-Identifier: Apache-2.0
//
// What the typed suites share that hold every CUDA operation against the naive host version on the
// same operands: for a real GPU, and for stand-ins. A suite is instantiated with a BackEnd, where
// BackEnd::open(options, unusable) gives a platform, or none and the reason for skipping, and
// BackEnd::make(device, precision) the operations.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/copy.h"
#include "common/runtime/platform.h"
#include "tests/kernels/cuda_tolerances.h"
#include "tests/kernels/naive/naive.h"

namespace tandem::test {

enum class Side { kDevice, kHost };

// Values on the host and on the device. The device's begin `offset` elements into their memory, as
// tensors within an arena do.
template <class T>
class Twin {
 public:
  Twin(Device& device, std::vector<T> values, std::int64_t offset)
      : device_(device),
        values_(std::move(values)),
        memory_(device.allocate(Bytes{(count() + offset) * static_cast<std::int64_t>(sizeof(T))})),
        on_device_(memory_->as<T>(count() + offset).subspan(offset, count())) {
    put(values_);
  }

  // The same values to both sides.
  void put(const std::vector<T>& values) {
    values_ = values;
    const std::vector<T> placed = turned(values, Turn::kToDevice);
    const auto stream = device_.make_stream(StreamPriority::kNormal);
    enqueue_copy(*stream, on_device_,
                 Span<const T>(placed.data(), count(), {Backend::kHost, DeviceId::kHostMemory}));
    stream->synchronize();
  }

  // On the device (images, channels, positions) from now on, on the host as before with channels
  // last.
  void put_channels_first(std::int64_t positions, std::int64_t channels) {
    positions_ = positions;
    channels_ = channels;
    put(std::vector<T>(values_));
  }

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(values_.size()); }

  [[nodiscard]] Span<T> on(Side side) { return side == Side::kHost ? on_host() : on_device_; }

  [[nodiscard]] std::vector<T> of_device() const {
    return turned(read_back(device_, Span<const T>(on_device_)), Turn::kToHost);
  }
  [[nodiscard]] const std::vector<T>& of_host() const { return values_; }

 private:
  [[nodiscard]] Span<T> on_host() {
    return {values_.data(), count(), {Backend::kHost, DeviceId::kHostMemory}};
  }

  enum class Turn { kToDevice, kToHost };

  [[nodiscard]] std::vector<T> turned(const std::vector<T>& values, Turn turn) const {
    std::vector<T> result(values.size());
    for (std::int64_t i = 0; i < count(); ++i) {
      const std::int64_t channel = i % channels_;
      const std::int64_t position = i / channels_ % positions_;
      const std::int64_t first = i - position * channels_ - channel;
      const std::int64_t there = first + channel * positions_ + position;
      const auto [to, from] = turn == Turn::kToDevice ? std::pair{there, i} : std::pair{i, there};
      result[static_cast<std::size_t>(to)] = values[static_cast<std::size_t>(from)];
    }
    return result;
  }

  Device& device_;
  std::vector<T> values_;
  std::unique_ptr<Buffer> memory_;
  Span<T> on_device_;
  std::int64_t positions_ = 1;
  std::int64_t channels_ = 1;
};

template <class T>
double norm(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) {
    const auto wide = static_cast<double>(static_cast<float>(value));
    sum += wide * wide;
  }
  return std::sqrt(sum);
}

template <class T>
double distance(const std::vector<T>& a, const std::vector<T>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(static_cast<float>(a[i])) -
                         static_cast<double>(static_cast<float>(b[i]));
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

template <class T>
void expect_share(const Twin<T>& result, double share, const std::string& what) {
  EXPECT_LE(distance(result.of_device(), result.of_host()), share * norm(result.of_host())) << what;
}

// Up to the sign of zero, and NaN counts as NaN.
template <class T>
void expect_same(const Twin<T>& twin, const std::string& what) {
  const std::vector<T> device = twin.of_device();
  for (std::size_t i = 0; i < device.size(); ++i) {
    const auto actual = static_cast<float>(device[i]);
    const auto expected = static_cast<float>(twin.of_host()[i]);
    if (std::isnan(actual) && std::isnan(expected)) continue;
    ASSERT_EQ(actual, expected) << what << ", element " << i;
  }
}

template <class Backend>
class CudaParity : public ::testing::Test {
 protected:
  void SetUp() override {
    PlatformOptions options;
    options.devices = 2;
    options.oversubscribe = true;
    options.device_memory = {mib(256)};
    std::string unusable;
    platform_ = Backend::open(options, unusable);
    if (!platform_) GTEST_SKIP() << unusable;
    stream_ = device().make_stream(StreamPriority::kNormal);
    operations_ = Backend::make(device(), Precision::kFp32, {});
  }

  Device& device(int index = 0) { return platform_->device(index); }
  Stream& stream() { return *stream_; }
  Operations& operations() { return *operations_; }

  // False where this GPU has not that precision.
  bool take(Precision precision, const ImageOptions& images = {}) {
    try {
      operations_ = Backend::make(device(), precision, images);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage) << error.what();
      return false;
    }
  }

  template <class T = float>
  Twin<T> random(std::int64_t count, Distribution distribution = Distribution::kUniform) {
    std::vector<float> wide(static_cast<std::size_t>(count));
    naive(FillRandom{
        .values = {wide.data(), count, {}}, .seed = ++seed_, .distribution = distribution});
    return twin(std::vector<T>(wide.begin(), wide.end()));
  }
  template <class T = float>
  Twin<T> zeros(std::int64_t count) {
    return twin(std::vector<T>(static_cast<std::size_t>(count)));
  }
  template <class T>
  Twin<T> twin(std::vector<T> values) {
    return Twin<T>(device(), std::move(values), offset_);
  }

  template <class Op>
  void run(const Op& op) {
    operations().enqueue(stream(), op);
    stream().synchronize();
  }

  // `make(side)` gives the operation on that side's operands.
  template <class Make>
  void run_on_both(const Make& make) {
    run(make(Side::kDevice));
    naive(make(Side::kHost));
  }

  // To one of the narrow types and back, from values of all sizes: from what rounds to zero in fp16
  // to what becomes infinite.
  template <class Narrow>
  void expect_conversions_agree(std::int64_t count, float divisor) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(
          std::ldexp(static_cast<float>(i * 37 % 1001) - 500, static_cast<int>(i % 60) - 40));
    }
    for (std::size_t i = 0; i + 2 < values.size(); i += 97) {
      values[i] = std::nanf("");
      values[i + 1] = std::numeric_limits<float>::infinity();
    }
    auto wide = twin(std::move(values));
    auto narrow = zeros<Narrow>(count);
    run_on_both([&](Side s) {
      return Convert{.tensors = {{wide.on(s), narrow.on(s)}}, .divisor = divisor};
    });
    expect_same(narrow, "narrowed");
    run_on_both([&](Side s) {
      return Convert{.tensors = {{narrow.on(s), wide.on(s)}}, .divisor = divisor};
    });
    expect_same(wide, "widened");
  }

  // Counts below, at and beside packs and blocks; operands that may be taken in packs, and not.
  void for_counts(const std::function<void(std::int64_t)>& body) {
    for (const std::int64_t offset : {0, 1, 4}) {
      offset_ = offset;
      for (const std::int64_t count : {0, 1, 3, 4, 5, 255, 1023, 1024, 4099, 300'001}) {
        SCOPED_TRACE("count " + std::to_string(count) + ", offset " + std::to_string(offset));
        body(count);
      }
    }
  }

  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Operations> operations_;
  std::int64_t offset_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace tandem::test
