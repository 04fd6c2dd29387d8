// SPDX-License-Identifier: Apache-2.0
//
// The timing of operations: each operation next to its bare operation where there is one, in turn
// on one stream, so that the machine's changes of speed meet both alike.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/measured_peaks.h"
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

  // How the operations enqueued so far were computed, where there are several ways; else empty.
  [[nodiscard]] std::string implementation() const {
    const auto all = operations_->implementations();
    return all.empty() ? "" : all.begin()->second;
  }

  // Runs plain code on a host device's worker. The operands are not declared, as nothing else runs.
  void enqueue_bare(std::function<void()> body);

  // Seconds from the first enqueue to the end of the last work.
  [[nodiscard]] double timed(const std::function<void()>& enqueue_all);

 private:
  [[nodiscard]] Buffer& allocate(Bytes size);

  Platform& platform_;
  Device& device_;
  const DType type_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;  // last: the stream ends before the memory that its work uses
};

// Plain code that an operation is compared with, and its work in units of 10^9: flops or bytes.
struct BareOperation {
  std::function<void()> body{};
  double work = 0;
};

// Work is in units of 10^9: flops, bytes or elements.
struct OperationMeasurement {
  std::function<void()> operation;
  std::function<void()> bare{};  // empty: this back end has no bare operation
  double operation_work = 0;
  double bare_work = 0;
  const char* unit = "";           // the counter's name
  MeasuredPeaks* peaks = nullptr;  // the rate is held against these
};

// Sets counters: the rate in `unit`; `of_peak`, the rate over the machine's peak in
// that unit; with a bare operation also the bare operation's rate, `bare_` before the unit, and
// `share`, the bare operation's time over the operation's.
void compare(benchmark::State& state, DeviceBench& bench, const OperationMeasurement& measurement);

// Calls that are timed together, as in a step, so that a wake-up of the worker is not counted to
// each call.
inline constexpr int kCalls = 8;

template <class Function>
void repeat(const Function& call) {
  for (int i = 0; i < kCalls; ++i) call();
}

}  // namespace tandem::bench
