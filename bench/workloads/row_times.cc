// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/row_times.h"

#include <algorithm>
#include <vector>

#include "common/model/replay_plan.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kSamplesOfRow = 7;
constexpr int kProducts = 4;  // products of a sample

}  // namespace

RowTimes::RowTimes(Device& device, Precision precision)
    : device_(device),
      type_(storage_of(precision)),
      operations_(make_operations(device, precision)),
      stream_(device.make_stream(StreamPriority::kNormal)) {}

double RowTimes::at(std::int64_t width) {
  const auto known = seconds_.find(width);
  if (known != seconds_.end()) return known->second;
  return seconds_[width] = measure(width);
}

std::int64_t RowTimes::width_for(double seconds) {
  std::int64_t width = kLeastProductWidth;
  while (width < kLargestProductWidth) {
    const std::int64_t next = 2 * width;
    if (seconds < static_cast<double>(next) * at(next)) break;
    width = next;
  }
  return width;
}

double RowTimes::measure(std::int64_t width) {
  const std::int64_t rows = std::clamp<std::int64_t>(2 * width, 64, kMostProductRows);
  const auto x = device_.allocate(Bytes{rows * width * size_of(type_)});
  const auto weight = device_.allocate(Bytes{width * width * size_of(type_)});
  const auto y = device_.allocate(Bytes{rows * width * size_of(type_)});
  const LinearForward product{.shape = {.batch = rows, .in = width, .out = width},
                              .x = x->as(type_, rows * width),
                              .weight = weight->as(type_, width * width),
                              .y = y->as(type_, rows * width)};
  const auto start = device_.make_timed_event();
  const auto end = device_.make_timed_event();
  std::vector<double> samples;
  for (int sample = 0; sample < kSamplesOfRow + 1; ++sample) {
    stream_->record(*start);
    for (int i = 0; i < kProducts; ++i) operations_->enqueue(*stream_, product);
    stream_->record(*end);
    stream_->synchronize();
    if (sample > 0) samples.push_back(Seconds(*end - *start).count());
  }
  return std::max(stats::median(samples), 1e-9) / static_cast<double>(kProducts * rows);
}

}  // namespace tandem::bench
