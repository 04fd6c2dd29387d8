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
  // The type in which products and activations are stored.
  [[nodiscard]] DType type() const { return type_; }

  // Random numbers, uniform in [-1, 1).
  [[nodiscard]] Span<float> random(std::int64_t count);
  [[nodiscard]] AnySpan random(std::int64_t count, DType type);

  template <class Op>
  void enqueue(const Op& op) {
    operations_->enqueue(*stream_, op);
  }

  // The means by which an operation was computed, where there are several; else empty.
  [[nodiscard]] std::string means(const std::string& operation) const {
    const auto all = operations_->means();
    const auto found = all.find(operation);
    return found == all.end() ? "" : found->second;
  }

  // Enqueues an operation on images, on a back end that has such operations.
  template <class Op>
  void enqueue_image(const Op& op) {
    operations_->images()->enqueue(*stream_, op);
  }

  // Runs plain code on a host device's worker. The operands are not declared, as nothing else runs.
  void enqueue_bare(std::function<void()> body);

  // Seconds from the first enqueue to the end of the last work.
  [[nodiscard]] double timed(const std::function<void()>& enqueue_all);

  // timed() between marks on the stream, by the device's own clock: no wake-up is in the time.
  [[nodiscard]] double timed_by_device(const std::function<void()>& enqueue_all);

 private:
  [[nodiscard]] Buffer& allocate(Bytes size);

  Platform& platform_;
  Device& device_;
  const DType type_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;  // last: the stream ends before the memory that its work uses
};

}  // namespace tandem::bench
