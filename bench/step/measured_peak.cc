// SPDX-License-Identifier: Apache-2.0
#include "bench/step/measured_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "common/kernels/host_support.h"
#include "common/kernels/operations.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

namespace tandem::bench {

double achieved_gflops(const StepOptions& options, const Model& model,
                       const Measurement& measured) {
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  const double flops = model.flops_per_sample() * batch;
  return flops / stats::mean(measured.step_seconds) / options.job.devices * 1e-9;
}

double find_peak(Job& job, const PeakRequest& peak, Precision precision) {
  if (!peak.is_measured) return peak.gflops;
  double gflops = 0;
  if (job.communicator->rank() == 0) {
    gflops = peak_flops(measure_products(*job.device, precision)) * 1e-9;
  }
  job.communicator->barrier();
  return gflops;
}

std::optional<std::string> precision_warning(Backend backend, Precision precision) {
  const bool is_bf16_on_host = backend == Backend::kHost && precision == Precision::kBf16;
  if (!is_bf16_on_host || host_bf16_support() != Bf16Support::kEmulated) return std::nullopt;
  return "bf16 is emulated: this CPU has no instructions for it, so the library multiplies in fp32 "
         "and converts; its speed says nothing about a CPU or GPU that has them";
}

bool has_one_format(const StepOptions& options, const Measurement& measured) {
  const auto by = measured.resolved.find("convolutions");
  return options.variant.training.precision != Precision::kFp32 || by == measured.resolved.end() ||
         !by->second.ends_with("tf32");
}

void report_flops(const Job& job, const StepOptions& options, const Model& model,
                  const Measurement& measured, bool is_peak_measured) {
  if (job.communicator->rank() != 0 || measured.peak_gflops == 0) return;
  if (model.flops_per_sample() == 0) return;  // the model's FLOPs are unknown
  if (!has_one_format(options, measured)) return;
  const double achieved = achieved_gflops(options, model, measured);
  std::cerr << fmt::format(
      "{:.4g} GFLOP/s per device, {:.1f} % of a {} peak of {:.4g} GFLOP/s ({})\n", achieved,
      100 * achieved / measured.peak_gflops, is_peak_measured ? "measured" : "given",
      measured.peak_gflops, name_of(options.variant.training.precision));
}

namespace {

constexpr std::int64_t kSmallest = 512;
constexpr std::int64_t kLargest = 16384;
constexpr int kSamples = 7;
constexpr Seconds kLongestProduct{0.3};
constexpr Seconds kShortestSample{0.005};  // long beside marks and the first launch

// Seconds per product, over `products` in a row.
double time_of(Device& device, Stream& stream, SquareProduct& product, int products) {
  EventPair row(device);
  row.around(stream, [&] {
    for (int i = 0; i < products; ++i) product.enqueue();
  });
  stream.synchronize();
  return Seconds(row.time()).count() / products;
}

ProductSpeed measure(Device& device, Operations& operations, Stream& stream, DType type,
                     std::int64_t size) {
  SquareProduct product(device, operations, stream, type, size);
  static_cast<void>(time_of(device, stream, product, 1));  // primitives, page faults
  const double once = std::max(1e-7, time_of(device, stream, product, 1));
  const int products = std::max(1, static_cast<int>(std::ceil(kShortestSample.count() / once)));
  ProductSpeed speed{.size = size, .seconds = {}};
  for (int i = 0; i < kSamples; ++i) {
    speed.seconds.push_back(time_of(device, stream, product, products));
  }
  return speed;
}

// Whether three matrices fit, and one of fp32 to cast from.
bool fits(const Device& device, std::int64_t size) {
  const MemoryUse memory = device.memory();
  return bytes_of<float>(4 * size * size) * 2 <= memory.capacity - memory.used;
}

}  // namespace

double ProductSpeed::flops() const {
  return static_cast<double>(product_flops(square_product(size))) / stats::median(seconds);
}

std::vector<ProductSpeed> measure_products(Device& device, Precision precision) {
  const auto operations = make_operations(device, precision);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  std::vector<ProductSpeed> speeds;
  for (std::int64_t size = kSmallest; size <= kLargest && fits(device, size); size *= 2) {
    // Twice the size is eight times the work.
    const double last = speeds.empty() ? 0 : stats::median(speeds.back().seconds);
    if (8 * last > kLongestProduct.count()) break;
    speeds.push_back(measure(device, *operations, *stream, storage_of(precision), size));
  }
  return speeds;
}

double peak_flops(const std::vector<ProductSpeed>& products) {
  double best = 0;
  for (const ProductSpeed& product : products) best = std::max(best, product.flops());
  return best;
}

SquareProduct::SquareProduct(Device& device, Operations& operations, Stream& stream, DType type,
                             std::int64_t size)
    : operations_(operations), stream_(stream), count_(size * size) {
  for (auto& matrix : matrices_) matrix = device.allocate(Bytes{count_ * size_of(type)});
  op_ = {.shape = square_product(size),
         .x = matrices_[0]->as(type, count_),
         .weight = matrices_[1]->as(type, count_),
         .bias = {},
         .y = matrices_[2]->as(type, count_)};
  fill(device, matrices_[0]->as(type, count_), 1);
  fill(device, matrices_[1]->as(type, count_), 2);
}

// FillRandom writes fp32: other types are cast from fp32.
void SquareProduct::fill(Device& device, AnySpan values, std::uint64_t seed) {
  if (values.dtype() == DType::kFloat32) {
    operations_.enqueue(stream_, FillRandom{.values = values.as<float>(), .seed = seed});
    return stream_.synchronize();
  }
  const auto wide = device.allocate(bytes_of<float>(count_));
  operations_.enqueue(stream_, FillRandom{.values = wide->as<float>(count_), .seed = seed});
  operations_.enqueue(stream_, Convert{.tensors = {{wide->as<float>(count_), values}}});
  stream_.synchronize();
}

}  // namespace tandem::bench
