// SPDX-License-Identifier: Apache-2.0
#include "common/model/replay_activations.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/rounding.h"

namespace tandem {
namespace {

// Enqueues 1, 2 and 3 times `scale`, a power of two: sums of whole numbers stay exact.
void enqueue_pattern(Executor on, Span<float> values, std::uint64_t seed, float scale) {
  on.enqueue(FillRandom{.values = values,
                        .seed = seed,
                        .distribution = Distribution::kSmallIntegers,
                        .scale = scale});
  on.enqueue(AddScalar{.values = values, .constant = 2 * scale});
}

// The power of two at or next below 1 / value.
float inverse_power_of_two(double value) {
  return static_cast<float>(std::exp2(-std::ceil(std::log2(value))));
}

// The sizes of the products that need most memory.
struct Largest {
  std::int64_t rows = 0;    // elements of x and y
  std::int64_t square = 0;  // elements of the matrix
};

Largest largest_of(const std::vector<ReplayLayer>& plan) {
  Largest largest;
  for (const ReplayLayer& layer : plan) {
    for (const ReplayPass* const pass : {&layer.forward, &layer.backward}) {
      for (const std::int64_t rows : pass->rows) {
        largest.rows = std::max(largest.rows, rows * pass->width);
        largest.square = std::max(largest.square, pass->width * pass->width);
      }
    }
  }
  return largest;
}

}  // namespace

FoldedTensor fold(std::int64_t count, std::int64_t first_row) {
  std::int64_t columns = std::min(kMostColumns, count);
  while (count % columns != 0) --columns;
  return {.columns = columns, .rows = count / columns, .first_row = first_row};
}

ReplayActivations::ReplayActivations(Device& device, const ReplaySizes& sizes,
                                     std::vector<ReplayLayer> plan, Precision precision)
    : sizes_(sizes), plan_(std::move(plan)), memory_(device) {
  const std::int64_t rows = sizes.batch * sizes.rows;
  tensors_ = {.input_pattern = memory_.add(sizes.input),
              .row_pattern = memory_.add(sizes.rows),
              .column_pattern = memory_.add(sizes.columns),
              .fold_pattern = memory_.add(kMostColumns),
              .sum_pattern = memory_.add(sizes.folded_rows),
              .sample = memory_.add(sizes.batch),
              .scaled = memory_.add(sizes.batch),
              .rows = memory_.add(rows),
              .folded = memory_.add(sizes.folded_rows),
              .z = memory_.add(1),
              .dfolded = memory_.add(sizes.folded_rows),
              .dz = memory_.add(1)};
  output_ = memory_.add(rows * sizes.columns);
  output_gradient_ = sizes.shares_output_gradient ? output_ : memory_.add(rows * sizes.columns);
  for (const std::int64_t bytes : sizes.activation_bytes) {
    const std::int64_t count = ceil_div(sizes.batch * bytes, sizeof(float));
    activations_.push_back(count > 0 ? memory_.add(count) : Span<float>());
  }
  allocate_products(storage_of(precision));
}

void ReplayActivations::allocate_products(DType type) {
  constexpr std::int64_t kWide = std::int64_t{1} << 20;
  const auto [rows, square] = largest_of(plan_);
  if (rows == 0) return;
  x_ = memory_.add(type, rows);
  weight_ = memory_.add(type, square);
  y_ = memory_.add(type, rows);
  if (type != DType::kFloat32) wide_ = memory_.add(std::min(kWide, std::max(rows, square)));
}

// Scales the patterns so that a sample's number is about 1, as continuous inputs are of unit scale
// and classes spread over their range; z is about 1 too, for weights of unit scale. Then a step
// changes neither by much.
void ReplayActivations::make_patterns(Executor on, std::int64_t input_classes,
                                      std::int64_t parameters) {
  if (std::exchange(has_patterns_, true)) return;
  const auto width = static_cast<double>(sizes_.input);
  const double inputs =
      input_classes > 0 ? 2 * width * static_cast<double>(input_classes) : 2 * std::sqrt(width);
  enqueue_pattern(on, tensors_.input_pattern, 1, inverse_power_of_two(inputs));
  enqueue_pattern(on, tensors_.row_pattern, 2, 1);
  enqueue_pattern(on, tensors_.column_pattern, 3, 1);
  enqueue_pattern(on, tensors_.fold_pattern, 4, 1);
  enqueue_pattern(on, tensors_.sum_pattern, 5,
                  inverse_power_of_two(4 * std::sqrt(static_cast<double>(parameters))));
  fill_random(on, x_, 6);
  fill_random(on, weight_, 7);
}

// Fills with random numbers, as real products have: zeros take less power on a GPU.
void ReplayActivations::fill_random(Executor on, AnySpan values, std::uint64_t seed) const {
  if (values.empty()) return;
  if (values.dtype() == DType::kFloat32) {
    on.enqueue(FillRandom{.values = values.as<float>(), .seed = seed});
    return;
  }
  on.enqueue(FillRandom{.values = wide_, .seed = seed});
  for (std::int64_t done = 0; done < values.size(); done += wide_.size()) {
    const std::int64_t count = std::min(wide_.size(), values.size() - done);
    on.enqueue(Convert{.in = wide_.subspan(0, count), .out = values.subspan(done, count)});
  }
}

void ReplayActivations::multiply(Executor on, const ReplayPass& pass) const {
  const std::int64_t width = pass.width;
  for (const std::int64_t rows : pass.rows) {
    on.enqueue(LinearForward{.shape = {.batch = rows, .in = width, .out = width},
                             .x = x_.subspan(0, rows * width),
                             .weight = weight_.subspan(0, width * width),
                             .y = y_.subspan(0, rows * width)});
  }
}

}  // namespace tandem
