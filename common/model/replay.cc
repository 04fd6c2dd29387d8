// SPDX-License-Identifier: Apache-2.0
#include "common/model/replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/error.h"
#include "common/base/rounding.h"
#include "common/model/passes.h"

namespace tandem {

namespace {

// y (rows, columns) = x (rows) times a pattern (columns).
LinearForward outer(Span<const float> x, Span<const float> pattern, Span<float> y) {
  return {.shape = {.batch = x.size(), .in = 1, .out = pattern.size()},
          .x = x,
          .weight = pattern,
          .y = y};
}

// y (rows) = matrix (rows, columns) times a pattern (columns).
LinearForward folded(Span<const float> matrix, Span<const float> pattern, Span<float> y) {
  return {.shape = {.batch = y.size(), .in = pattern.size(), .out = 1},
          .x = matrix,
          .weight = pattern,
          .y = y};
}

// dx (rows) = dy (rows, columns) times the pattern that outer() had.
LinearBackwardInput outer_backward(Span<const float> dy, Span<const float> pattern,
                                   Span<float> dx) {
  return {.shape = {.batch = dx.size(), .in = 1, .out = pattern.size()},
          .dy = dy,
          .weight = pattern,
          .dx = dx};
}

bool lists_kernels(const Workload& workload) {
  return std::ranges::any_of(workload.layers, [](const WorkloadLayer& layer) {
    return !layer.forward.kernels.empty() || !layer.backward.kernels.empty();
  });
}

}  // namespace

Replay::Replay(Workload workload)
    : workload_(std::move(workload)),
      segments_(workload_.layers.size()),
      folded_(workload_.tensors.size()) {
  std::vector<const WorkloadTensor*> by_segment(workload_.tensors.size());
  for (const WorkloadTensor& tensor : workload_.tensors) {
    by_segment.at(tensor.registered) = &tensor;
    segments_.at(tensor.layer).push_back(tensor.registered);
  }
  for (std::size_t segment = 0; segment < by_segment.size(); ++segment) {
    const WorkloadTensor& tensor = *by_segment[segment];
    layout_.add(tensor.name, tensor.shape);
    folded_[segment] = fold(tensor.shape.count(), folded_rows_);
    folded_rows_ += folded_[segment].rows;
  }
  for (const WorkloadBuffer& buffer : workload_.buffers) buffers_.add(buffer.name, buffer.shape);
}

double Replay::flops_per_sample() const {
  double flops = 0;
  for (const WorkloadLayer& layer : workload_.layers) {
    flops += layer.forward.flops + layer.backward.flops;
  }
  return flops;
}

void Replay::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                        Distribution distribution) const {
  const Initialiser set{on, parameters, layout_, seed, distribution};
  for (int segment = 0; segment < layout_.size(); ++segment) set.random(segment, 1);
}

ReplaySizes Replay::sizes(std::int64_t batch) const {
  const Objective& objective = workload_.objective;
  const bool is_squared_error = objective.kind == ObjectiveKind::kMeanSquaredError;
  ReplaySizes sizes{.batch = batch,
                    .input = workload_.input_width,
                    .rows = is_squared_error ? 1 : objective.target_width,
                    .columns = is_squared_error ? workload_.output_width : objective.classes,
                    .folded_rows = folded_rows_,
                    .shares_output_gradient = !is_squared_error};
  for (const WorkloadLayer& layer : workload_.layers) {
    sizes.activation_bytes.push_back(layer.activation_bytes);
  }
  return sizes;
}

std::unique_ptr<Activations> Replay::make_activations(Device& device, std::int64_t batch,
                                                      Precision precision,
                                                      OutputType output_type) const {
  ReplaySizes sizes = this->sizes(batch);
  if (!lists_kernels(workload_) || !takes_listed_kernels(device)) {
    return std::make_unique<ReplayActivations>(device, sizes, plan_replay(workload_, batch),
                                               precision);
  }
  if (output_type == OutputType::kLayers) sizes.output_type = workload_.output_type;
  if (workload_.held) {
    sizes.held_bytes = size_at(*workload_.held, batch);
    std::ranges::fill(sizes.activation_bytes, 0);
  }
  return std::make_unique<ReplayActivations>(device, sizes, plan_listed(workload_, batch),
                                             precision, true);
}

void Replay::forward(Executor on, const ConstTensorList& parameters, ModuleState& /*state*/,
                     Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<ReplayActivations&>(activations);
  const auto& t = kept.tensors();
  if (!kept.is_listed()) {
    kept.make_patterns(on, workload_.input_classes, layout_.parameter_count());
    begin_forward(on, input, kept);
  }
  for (std::size_t layer = 0; layer < segments_.size(); ++layer) {
    const WorkloadLayer& of = workload_.layers[layer];
    charge(on, static_cast<int>(of.calls - of.operation_calls));
    charge(on, static_cast<int>(of.operation_calls), DispatchKind::kOperation);
    const ReplayLayer& plan = kept.plan()[layer];
    if (kept.is_listed()) {
      kept.multiply(on, plan.forward);
      continue;
    }
    for (const std::size_t segment : segments_[layer]) {
      const auto& [columns, rows, first_row] = folded_[segment];
      on.enqueue(folded(parameters[segment], t.fold_pattern.subspan(0, columns),
                        t.folded.subspan(first_row, rows)));
    }
    kept.multiply(on, plan.forward);
    if (!plan.moves_activations) continue;
    on.enqueue(Fill{.values = kept.activations(layer), .constant = 1});
  }
  if (!kept.is_listed()) end_forward(on, kept);
}

void Replay::begin_forward(Executor on, Span<const float> input, ReplayActivations& kept) const {
  const auto& t = kept.tensors();
  on.enqueue(folded(input, t.input_pattern, t.sample));
}

void Replay::end_forward(Executor on, ReplayActivations& kept) const {
  const auto& t = kept.tensors();
  on.enqueue(folded(t.folded, t.sum_pattern, t.z));
  on.enqueue(outer(t.sample, t.z, t.scaled));
  Span<const float> rows = t.scaled;
  if (kept.sizes().rows > 1) {
    on.enqueue(outer(t.scaled, t.row_pattern, t.rows));
    rows = t.rows;
  }
  on.enqueue(outer(rows, t.column_pattern, kept.output().as<float>()));
}

void Replay::begin_backward(Executor on, ReplayActivations& kept) const {
  const auto& t = kept.tensors();
  Span<float> drows = t.scaled;
  if (kept.sizes().rows > 1) drows = t.rows;
  on.enqueue(outer_backward(kept.output_gradient().as<float>(), t.column_pattern, drows));
  if (kept.sizes().rows > 1) on.enqueue(outer_backward(t.rows, t.row_pattern, t.scaled));
  on.enqueue(LinearBackwardWeight{.shape = {.batch = kept.sizes().batch, .in = 1, .out = 1},
                                  .x = t.sample,
                                  .dy = t.scaled,
                                  .dweight = t.dz});
  on.enqueue(outer(t.dz, t.sum_pattern, t.dfolded));
}

void Replay::backward(Executor on, const ConstTensorList& /*parameters*/,
                      Span<const float> /*input*/, Activations& activations,
                      const TensorList& gradients, GradientSink& sink) const {
  auto& kept = static_cast<ReplayActivations&>(activations);
  const auto& t = kept.tensors();
  if (!kept.is_listed()) begin_backward(on, kept);
  for (std::size_t layer = segments_.size(); layer-- > 0;) {
    const ReplayLayer& plan = kept.plan()[layer];
    kept.multiply(on, plan.backward);
    if (plan.moves_activations) {
      on.enqueue(AddScalar{.tensors = {kept.activations(layer)}, .constant = 1});
    }
    for (const std::size_t segment : segments_[layer]) {
      const auto& [columns, rows, first_row] = folded_[segment];
      if (!kept.is_listed()) {
        on.enqueue(outer(t.dfolded.subspan(first_row, rows), t.fold_pattern.subspan(0, columns),
                         gradients[segment]));
      }
      sink.gradient_ready(static_cast<int>(segment));
    }
  }
}

namespace {

// Enqueues 1, 2 and 3 times `scale`, a power of two: sums of whole numbers stay exact.
void enqueue_pattern(Executor on, Span<float> values, std::uint64_t seed, float scale) {
  on.enqueue(FillRandom{.values = values,
                        .seed = seed,
                        .distribution = Distribution::kSmallIntegers,
                        .scale = scale});
  on.enqueue(AddScalar{.tensors = {values}, .constant = 2 * scale});
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
  std::int64_t columns = std::min(kMostFoldColumns, count);
  while (count % columns != 0) --columns;
  return {.columns = columns, .rows = count / columns, .first_row = first_row};
}

ReplayActivations::ReplayActivations(Device& device, const ReplaySizes& sizes,
                                     std::vector<ReplayLayer> plan, Precision precision,
                                     bool is_listed)
    : sizes_(sizes), plan_(std::move(plan)), is_listed_(is_listed), memory_(device) {
  const std::int64_t rows = sizes.batch * sizes.rows;
  tensors_ = {.input_pattern = memory_.add(sizes.input),
              .row_pattern = memory_.add(sizes.rows),
              .column_pattern = memory_.add(sizes.columns),
              .fold_pattern = memory_.add(kMostFoldColumns),
              .sum_pattern = memory_.add(sizes.folded_rows),
              .sample = memory_.add(sizes.batch),
              .scaled = memory_.add(sizes.batch),
              .rows = memory_.add(rows),
              .folded = memory_.add(sizes.folded_rows),
              .z = memory_.add(1),
              .dfolded = memory_.add(sizes.folded_rows),
              .dz = memory_.add(1)};
  const auto make_output = [&] { return memory_.add(sizes.output_type, rows * sizes.columns); };
  output_ = make_output();
  output_gradient_ = sizes.shares_output_gradient ? output_ : make_output();
  for (const std::int64_t bytes : sizes.activation_bytes) {
    const std::int64_t count = ceil_div(sizes.batch * bytes, sizeof(float));
    activations_.push_back(count > 0 ? memory_.add(count) : Span<float>());
  }
  if (sizes.held_bytes > 0) (void)memory_.add(ceil_div(sizes.held_bytes, sizeof(float)));
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
    on.enqueue(Convert{.tensors = {{wide_.subspan(0, count), values.subspan(done, count)}}});
  }
}

void ReplayActivations::multiply(Executor on, const ReplayPass& pass) const {
  for (const ListedKernel& kernel : pass.kernels) enqueue_listed(on.stream, kernel);
  const std::int64_t width = pass.width;
  for (const std::int64_t rows : pass.rows) {
    on.enqueue(LinearForward{.shape = {.batch = rows, .in = width, .out = width},
                             .x = x_.subspan(0, rows * width),
                             .weight = weight_.subspan(0, width * width),
                             .y = y_.subspan(0, rows * width)});
  }
}

namespace {

// Shares `rows` out among `products` products, equal to within one row, at least one row each;
// makes more products where one would have too many rows.
ReplayPass shared_out(std::int64_t width, std::int64_t rows, std::int64_t products) {
  if (rows > 0) products = std::max<std::int64_t>(products, 1);
  products = std::max(products, ceil_div(rows, kMostProductRows));
  ReplayPass pass{.width = width, .rows = {}};
  for (std::int64_t i = 0; i < products; ++i) {
    const std::int64_t share = rows / products + (i < rows % products ? 1 : 0);
    pass.rows.push_back(std::max<std::int64_t>(share, 1));
  }
  return pass;
}

ReplayPass by_flops(double flops, std::int64_t products) {
  const double each = flops / static_cast<double>(std::max<std::int64_t>(products, 1));
  const std::int64_t width = product_width(each);
  const double row = 2.0 * static_cast<double>(width) * static_cast<double>(width);
  return shared_out(width, std::llround(flops / row), products);
}

ReplayPass pass_of(const LayerPass& pass, std::int64_t others, std::int64_t batch) {
  return by_flops(pass.flops * static_cast<double>(batch),
                  std::max<std::int64_t>(pass.operations - others, 0));
}

// The number of operations of a pass that are not products.
std::int64_t other_operations(const Workload& workload, std::size_t layer) {
  const bool moves = workload.layers.at(layer).activation_bytes > 0;
  return std::ranges::count(workload.tensors, layer, &WorkloadTensor::layer) + (moves ? 1 : 0);
}

}  // namespace

std::int64_t product_width(double flops) {
  std::int64_t width = kLeastProductWidth;
  while (width < kLargestProductWidth &&
         2 * std::pow(2.0 * static_cast<double>(width), 3) <= flops) {
    width *= 2;
  }
  return width;
}

std::vector<ReplayLayer> plan_replay(const Workload& workload, std::int64_t batch) {
  std::vector<ReplayLayer> plan;
  for (std::size_t i = 0; i < workload.layers.size(); ++i) {
    const WorkloadLayer& layer = workload.layers[i];
    const std::int64_t others = other_operations(workload, i);
    plan.push_back({.forward = pass_of(layer.forward, others, batch),
                    .backward = pass_of(layer.backward, others, batch),
                    .moves_activations = layer.activation_bytes > 0});
  }
  return plan;
}

std::vector<ReplayLayer> plan_listed(const Workload& workload, std::int64_t batch) {
  const auto pass_at = [batch](const LayerPass& pass) {
    ReplayPass listed;
    for (const WorkloadKernel& one : pass.kernels) listed.kernels.push_back(kernel_at(one, batch));
    return listed;
  };
  std::vector<ReplayLayer> plan;
  for (const WorkloadLayer& layer : workload.layers) {
    plan.push_back({.forward = pass_at(layer.forward), .backward = pass_at(layer.backward)});
  }
  return plan;
}

}  // namespace tandem
