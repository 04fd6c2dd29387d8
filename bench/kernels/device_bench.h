// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// One device, one stream, and memory with values that neither overflow nor become denormal.
class DeviceBench {
 public:
  DeviceBench(Platform& platform, Precision precision);

  [[nodiscard]] Platform& platform() { return platform_; }
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] bool is_host() const { return platform_.backend() == Backend::kHost; }
  // What products and activations are stored as.
  [[nodiscard]] DType type() const { return type_; }

  // Uniform in [-1, 1).
  [[nodiscard]] Span<float> random(std::int64_t count);
  [[nodiscard]] AnySpan random(std::int64_t count, DType type);

  template <class Op>
  void enqueue(const Op& op) {
    operations_->enqueue(*stream_, op);
  }

  // What an operation was computed by, where there are several ways; else empty.
  [[nodiscard]] std::string means(const std::string& operation) const {
    const auto all = operations_->means();
    const auto found = all.find(operation);
    return found == all.end() ? "" : found->second;
  }

  // Of a back end that has operations on images.
  template <class Op>
  void enqueue_image(const Op& op) {
    operations_->images()->enqueue(*stream_, op);
  }

  // Of a host device: plain code on the worker. Its operands are not declared, nothing else runs.
  void enqueue_bare(std::function<void()> body);

  // Seconds from the first enqueue to the end of the last work.
  [[nodiscard]] double timed(const std::function<void()>& enqueue_all);

  // The same between marks on the stream, by the device's own clock: no wake-up is in it.
  [[nodiscard]] double timed_by_device(const std::function<void()>& enqueue_all);

 private:
  [[nodiscard]] Buffer& allocate(Bytes size);

  Platform& platform_;
  Device& device_;
  const DType type_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;  // last: ends before what its work uses
};

}  // namespace tandem::bench
