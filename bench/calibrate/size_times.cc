// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/size_times.h"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "common/kernels/operation_key.h"
#include "common/runtime/copy.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kRows = 7;
constexpr int kLongRows = 3;                                 // of one piece each
constexpr int kLongestRow = 200;                             // pieces of work
constexpr Nanoseconds kGate = std::chrono::milliseconds(1);  // until a row is enqueued
constexpr Seconds kWantedRow{1e-3};                          // long beside the events at its ends
constexpr Bytes kCycled = mib(8);         // memory that successive pieces go through, at least
constexpr Bytes kLargestLoss = mib(512);  // operands of a loss
constexpr std::int64_t kLossMultiples[] = {1, 2, 4, 8, 16};

// Tensors of one size in a row, so many that the nearest cache does not hold all.
class CycledTensors {
 public:
  CycledTensors(Device& device, Stream& stream, Bytes size)
      : size_(size.value), count_(std::max<std::int64_t>(2, kCycled.value / size.value)) {
    buffer_ = device.allocate(Bytes{size_ * count_});
    enqueue_zero(stream, buffer_->as<float>());
  }

  // The tensor that piece `i` of a row uses.
  [[nodiscard]] Span<float> floats(int i) {
    const std::int64_t each = size_ / static_cast<std::int64_t>(sizeof(float));
    return buffer_->as<float>().subspan(i % count_ * each, each);
  }

 private:
  const std::int64_t size_;
  const std::int64_t count_;
  std::unique_ptr<Buffer> buffer_;
};

// Times work on tensors of one size, and adds it under its name.
class SizedWork {
 public:
  SizedWork(Device& device, Stream& stream, Operations& operations, Bytes size)
      : device_(device),
        stream_(stream),
        operations_(operations),
        size_(size),
        a_(device, stream, size),
        b_(device, stream, size),
        c_(device, stream, size),
        one_(device.allocate(bytes_of<float>(AdamClock::kFloats))) {
    enqueue_zero(stream, one_->as<float>());
  }

  void add_to(MeasuredOperations& all) {
    add(all, "copy", size_, [this](int i) { enqueue_copy(stream_, a_.floats(i), b_.floats(i)); });
    add(all, "zero", size_, [this](int i) { enqueue_zero(stream_, a_.floats(i)); });
    add_operation(all, "add", [this](int i) {
      return Add{.a = a_.floats(i), .b = b_.floats(i), .sum = c_.floats(i)};
    });
    add_operation(all, "scale", [this](int i) {
      return Scale{.in = a_.floats(i), .out = b_.floats(i), .factor = 0.5F};
    });
    add_operation(all, "fill", [this](int i) { return Fill{.values = a_.floats(i)}; });
    add_operation(all, "add_scalar",
                  [this](int i) { return AddScalar{.tensors = {a_.floats(i)}}; });
    add_operation(all, "fill_random",
                  [this](int i) { return FillRandom{.values = a_.floats(i), .seed = 1}; });
    add_operation(all, "convert", [this](int i) { return narrowed(i); });
    add_operation(all, "sgd_update", [this](int i) { return sgd(i); });
    add_operation(all, "adam_update", [this](int i) { return adam(i); });
    add_operation(all, "weighted_sum", [this](int i) {
      return WeightedSum{
          .values = a_.floats(i), .weights = b_.floats(i), .sum = one_->as<float>(1)};
    });
  }

 private:
  [[nodiscard]] Convert narrowed(int i) {
    const Span<float> wide = a_.floats(i);
    const ByteSpan room = as_writable_bytes(b_.floats(i));
    const AnySpan out(room.data(), wide.size(), DType::kBFloat16, room.device());
    return {.tensors = {{wide, out}}};
  }

  [[nodiscard]] SgdUpdate sgd(int i) {
    return {.tensors = {{a_.floats(i), b_.floats(i), c_.floats(i)}}, .momentum = 0.9F};
  }

  // The second moment lies in the next tensor of the first one's row.
  [[nodiscard]] AdamUpdate adam(int i) {
    return {.tensors = {{a_.floats(i), b_.floats(i), b_.floats(i + 1), c_.floats(i)}},
            .clock = one_->as<float>(AdamClock::kFloats)};
  }

  template <class Make>
  void add_operation(MeasuredOperations& all, const char* name, const Make& make) {
    add(all, name, bytes_moved_by(make(0)), [&](int i) { operations_.enqueue(stream_, make(i)); });
  }

  template <class Enqueue>
  void add(MeasuredOperations& all, const char* name, Bytes moved, const Enqueue& enqueue) {
    all[name].push_back(
        {.bytes = moved.value, .seconds = {seconds_in_row(device_, stream_, enqueue)}});
  }

  Device& device_;
  Stream& stream_;
  Operations& operations_;
  const Bytes size_;
  CycledTensors a_;
  CycledTensors b_;
  CycledTensors c_;
  const std::unique_ptr<Buffer> one_;
};

// Elements of a sample's output, behind whose rows of classes lies padding.
std::int64_t outputs_of(const Objective& objective, std::int64_t padding) {
  return objective.target_width * std::max<std::int64_t>(objective.classes + padding, 1);
}

// Times one loss of `count` samples, in one operation and in two, and casts of its operands.
class SizedLoss {
 public:
  SizedLoss(Device& device, Operations& operations, Stream& stream, const Objective& objective,
            std::int64_t count, std::int64_t padding, DType type)
      : device_(device),
        operations_(operations),
        stream_(stream),
        objective_(objective),
        padding_(padding),
        type_(type),
        outputs_(count * outputs_of(objective, padding)),
        prediction_(zeros(outputs_)),
        gradient_(zeros(outputs_)),
        target_(zeros(count * objective.target_width)),
        loss_(zeros(1)) {}

  void add_to(MeasuredOperations& all) {
    if (type_ != DType::kFloat32) add_casts(all);
    const ConstAnySpan prediction = prediction_->as(type_, outputs_);
    const AnySpan gradient = gradient_->as(type_, outputs_);
    const Span<const float> target = target_->as<float>();
    const Span<float> loss = loss_->as<float>(1);
    if (objective_.kind == ObjectiveKind::kMeanSquaredError) {
      for (const AnySpan& to : {gradient, AnySpan()}) {
        add(all, "mse_loss", MseLoss{prediction, target, to, loss});
      }
      return add(all, "mse_loss_backward", MseLossBackward{prediction, target, loss, gradient});
    }
    const std::int64_t classes = objective_.classes;
    for (const AnySpan& to : {gradient, AnySpan()}) {
      add(all, "cross_entropy_loss",
          CrossEntropyLoss{classes, prediction, target, to, loss, padding_});
    }
    add(all, "cross_entropy_loss_backward",
        CrossEntropyLossBackward{classes, prediction, target, loss, gradient, padding_});
  }

 private:
  [[nodiscard]] std::unique_ptr<Buffer> zeros(std::int64_t count) {
    auto buffer = device_.allocate(bytes_of<float>(count));
    enqueue_zero(stream_, buffer->as<float>(count));
    return buffer;
  }

  // The mean of those up and down, which move as many bytes: where outputs come together.
  void add_casts(MeasuredOperations& all) {
    const AnySpan wide = gradient_->as<float>(outputs_);
    const AnySpan narrow = prediction_->as(type_, outputs_);
    const Convert casts[] = {{.tensors = {{narrow, wide}}}, {.tensors = {{wide, narrow}}}};
    add(all, "convert", casts[0], [&](int i) { operations_.enqueue(stream_, casts[i % 2]); });
  }

  template <class Op>
  void add(MeasuredOperations& all, std::string_view name, const Op& op) {
    add(all, name, op, [&](int) { operations_.enqueue(stream_, op); });
  }
  template <class Op, class Enqueue>
  void add(MeasuredOperations& all, std::string_view name, const Op& op, const Enqueue& enqueue) {
    all[key_of(op, name)].push_back({.bytes = bytes_moved_by(op).value,
                                     .seconds = {seconds_in_row(device_, stream_, enqueue)}});
  }

  Device& device_;
  Operations& operations_;
  Stream& stream_;
  const Objective objective_;
  const std::int64_t padding_;
  const DType type_;  // of the prediction and its gradient
  const std::int64_t outputs_;
  const std::unique_ptr<Buffer> prediction_;
  const std::unique_ptr<Buffer> gradient_;
  const std::unique_ptr<Buffer> target_;
  const std::unique_ptr<Buffer> loss_;
};

Bytes left_on(const Device& device) {
  const MemoryUse use = device.memory();
  return use.capacity - use.used;
}

}  // namespace

double seconds_in_row(Device& device, Stream& stream, const std::function<void(int)>& enqueue) {
  EventPair row(device);
  const bool is_core = device.id().backend == Backend::kHost;
  const auto time = [&](int pieces) {
    if (is_core) stream.delay(kGate);
    double enqueuing = 0;
    row.around(stream, [&] {
      const TimePoint start = Clock::now();
      for (int i = 0; i < pieces; ++i) enqueue(i);
      enqueuing = Seconds(Clock::now() - start).count();
    });
    stream.synchronize();
    return (Seconds(row.time()).count() + (is_core ? enqueuing : 0)) / pieces;
  };
  static_cast<void>(time(1));  // primitives are made, and memory is touched
  const double wanted = kWantedRow.count() / std::max(time(1), 1e-9);
  const int pieces = std::clamp(static_cast<int>(std::min(wanted, 1e6)), 1, kLongestRow);
  std::vector<double> samples;
  for (int i = 0; i < (pieces > 1 ? kRows : kLongRows); ++i) samples.push_back(time(pieces));
  return stats::median(samples);
}

MeasuredOperations time_sizes(Device& device, Precision precision) {
  constexpr int kTensors = 3;
  const auto operations = make_operations(device, precision);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  MeasuredOperations all;
  for (Bytes size = kSmallestTensor; size <= kLargestTensor; size = size * kTensorStep) {
    const Bytes room{std::max(2 * size.value, kCycled.value) * kTensors};
    if (room > Bytes{left_on(device).value / 2}) break;
    SizedWork(device, *stream, *operations, size).add_to(all);
    stream->synchronize();
  }
  return all;
}

MeasuredOperations time_losses(Device& device, const Model& model, std::int64_t batch,
                               Precision precision) {
  const Objective objective = model.objective();
  const std::int64_t padding =
      model.make_activations(device, 1, precision, OutputType::kLayers)->output_padding();
  const auto operations = make_operations(device);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  const std::set types{DType::kFloat32, storage_of(precision)};
  MeasuredOperations all;
  for (const std::int64_t multiple : kLossMultiples) {
    const Bytes operands = bytes_of<float>(3 * batch * multiple * outputs_of(objective, padding));
    if (multiple > 1 && operands > std::min(kLargestLoss, Bytes{left_on(device).value / 2})) break;
    for (const DType type : types) {
      SizedLoss(device, *operations, *stream, objective, batch * multiple, padding, type)
          .add_to(all);
      stream->synchronize();
    }
  }
  return all;
}

}  // namespace tandem::bench
