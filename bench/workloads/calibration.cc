// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "bench/workloads/layer_times.h"
#include "common/base/error.h"
#include "common/kernels/operations.h"
#include "common/model/replay.h"
#include "common/model/replay_plan.h"
#include "common/runtime/event_pair.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr int kSamplesOfRow = 7;
constexpr int kProducts = 4;  // products of a sample
constexpr int kCorrections = 5;

// Seconds that a row adds to a product of some width on a device, each width measured once.
class RowTimes {
 public:
  RowTimes(Device& device, Precision precision);

  // Seconds per row of a product of rows x width times width x width.
  [[nodiscard]] double at(std::int64_t width);

  // The largest width of which a product of `seconds` has as many rows as columns or more: the
  // product then runs as near to the speed of large products as its seconds allow.
  [[nodiscard]] std::int64_t width_for(double seconds);

 private:
  [[nodiscard]] double measure(std::int64_t width);

  Device& device_;
  const DType type_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;
  std::map<std::int64_t, double> seconds_;  // seconds per row, by width
};

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
  EventPair row(device_);
  std::vector<double> samples;
  for (int sample = 0; sample < kSamplesOfRow + 1; ++sample) {
    row.around(*stream_, [&] {
      for (int i = 0; i < kProducts; ++i) operations_->enqueue(*stream_, product);
    });
    stream_->synchronize();
    if (sample > 0) samples.push_back(Seconds(row.time()).count());
  }
  return std::max(stats::median(samples), 1e-9) / static_cast<double>(kProducts * rows);
}

// A pass with the time of the pass in its replay.
struct Replayed {
  LayerPass* pass = nullptr;
  double seconds = 0;
  std::int64_t products = 0;  // number that the pass's other operations leave room for
};

// The passes in the order in which a step goes through them.
std::vector<Replayed> in_order(Workload& workload, const std::vector<LayerSeconds>& times) {
  std::vector<Replayed> passes;
  const auto products = [&](const LayerPass& pass, std::size_t layer) {
    return std::max<std::int64_t>(pass.operations - other_operations(workload, layer), 0);
  };
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    LayerPass& pass = workload.layers[i].forward;
    passes.push_back({&pass, times[i].forward, products(pass, i)});
  }
  for (std::size_t i = workload.layers.size(); i-- > 0;) {
    LayerPass& pass = workload.layers[i].backward;
    passes.push_back({&pass, times[i].backward, products(pass, i)});
  }
  return passes;
}

// Sets rows that bring each pass to its seconds, less the excess of earlier passes.
void correct(std::vector<Replayed>& passes, std::size_t batch, RowTimes& row_times) {
  double debt = 0;
  for (Replayed& replayed : passes) {
    CalibratedProducts& products = *replayed.pass->products;
    const double row = row_times.at(products.width);
    const double wanted = replayed.pass->seconds[batch] - debt;
    // A product has one row at least.
    const std::int64_t before = std::max(products.rows[batch], replayed.products);
    const auto change = std::llround((wanted - replayed.seconds) / row);
    products.rows[batch] = std::max<std::int64_t>(before + change, 0);
    const std::int64_t after = std::max(products.rows[batch], replayed.products);
    debt = std::max(0.0, replayed.seconds + static_cast<double>(after - before) * row - wanted);
  }
}

void start_products(Workload& workload, RowTimes& row_times) {
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    for (LayerPass* const pass : {&workload.layers[i].forward, &workload.layers[i].backward}) {
      const std::int64_t products =
          std::max<std::int64_t>(pass->operations - other_operations(workload, i), 1);
      CalibratedProducts start{
          .width = row_times.width_for(pass->seconds.back() / static_cast<double>(products)),
          .rows = {}};
      for (const double seconds : pass->seconds) {
        start.rows.push_back(std::llround(seconds / row_times.at(start.width)));
      }
      pass->products = start;
    }
  }
}

std::vector<LayerSeconds> replayed(Platform& platform, Device& device, const Workload& workload,
                                   std::int64_t batch, Precision precision) {
  const Replay replay(workload);
  ProbedStep step(platform, device, replay, batch, precision);
  return time_layers(device, step, replay.operations(batch));
}

CalibratedBatch outcome_of(const std::vector<Replayed>& passes, std::size_t index,
                           std::int64_t batch) {
  CalibratedBatch outcome{.batch = batch};
  for (const Replayed& pass : passes) {
    outcome.wanted_seconds += pass.pass->seconds[index];
    outcome.replayed_seconds += pass.seconds;
  }
  return outcome;
}

}  // namespace

Calibration calibrate(Platform& platform, Device& device, Workload workload, Precision precision) {
  TANDEM_CHECK(workload.timing.has_value(), "{} is not measured", workload.name);
  Calibration result{.workload = std::move(workload)};
  RowTimes row_times(device, precision);
  start_products(result.workload, row_times);
  const std::vector<std::int64_t> batches = result.workload.timing->batches;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    for (int round = 0; round <= kCorrections; ++round) {
      auto passes = in_order(result.workload,
                             replayed(platform, device, result.workload, batches[i], precision));
      if (round < kCorrections) {
        correct(passes, i, row_times);
      } else {
        result.batches.push_back(outcome_of(passes, i, batches[i]));
      }
    }
  }
  return result;
}

}  // namespace tandem::bench
