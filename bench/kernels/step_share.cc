// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/step_share.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <optional>

#include "bench/driver/flag_values.h"
#include "bench/driver/google_benchmark.h"
#include "bench/passes/pair_measurement.h"
#include "bench/step/measured_peak.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/kernels/host/bare_product.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr int kWarmUp = 5;  // steps: primitives, page faults, clocks

// The FLOPs of forward, of the weights' gradients, and of the inputs' gradients but for the first
// layer.
double step_flops(const std::vector<LinearShape>& layers) {
  double flops = 0;
  for (const LinearShape& shape : layers) flops += 3 * static_cast<double>(product_flops(shape));
  return flops - static_cast<double>(product_flops(layers.front()));
}

// The times of one step, in seconds.
struct StepTimes {
  double products = 0;
  double whole = 0;
};

// Both sides of one set, built in the order in which they start its pairs.
class Sides {
 public:
  Sides(Platform& platform, const Model& model, const TrainingOptions& training, bool bare_first)
      : platform_(platform), model_(model), training_(training) {
    if (bare_first) make_bare();
    single_.emplace(platform, platform.device(0), model, Shard{0, training.global_batch}, training);
    if (!bare_first) make_bare();
    for (int i = 0; i < kWarmUp; ++i) {
      static_cast<void>(step());
      static_cast<void>(bare());
    }
  }

  StepTimes step() {
    const TimePoint start = Clock::now();
    single_->step();
    single_->synchronize();
    const double whole = Seconds(Clock::now() - start).count();
    const PhaseTimes phases = single_->collect_phases().front().times;
    return {Seconds(phases.of(Phase::kForward) + phases.of(Phase::kBackward)).count(), whole};
  }

  double bare() {
    return bench_->timed_by_device([this] { bare_->enqueue(); });
  }

  [[nodiscard]] double flops() const { return bare_->flops(); }

 private:
  void make_bare() {
    bench_.emplace(platform_, training_.precision);
    bare_.emplace(*bench_, model_, training_.global_batch);
  }

  Platform& platform_;
  const Model& model_;
  const TrainingOptions training_;
  std::optional<DeviceBench> bench_;
  std::optional<BareStep> bare_;
  std::optional<Single> single_;
};

// Takes the sets of pairs, one sample after the other.
class ShareSampler {
 public:
  ShareSampler(Platform& platform, const Model& model, const TrainingOptions& training, int pairs)
      : platform_(platform), model_(model), training_(training), plan_(plan_pairs(pairs)) {
    begin_set();  // builds the first set here, so that errors are reported before the first timing
  }

  // Takes a sample; returns the seconds of a step.
  double sample() {
    if (!sides_) begin_set();
    const bool bare_first = set().b_first;
    double bare = 0;
    StepTimes step;
    const auto take_bare = [&] { bare += sides_->bare() / 2; };
    const auto take_step = [&] {
      const StepTimes took = sides_->step();
      step.products += took.products / 2;
      step.whole += took.whole / 2;
    };
    if (bare_first) take_bare();
    take_step();
    if (!bare_first) take_bare();
    if (!bare_first) take_bare();
    take_step();
    if (bare_first) take_bare();
    add(step, bare);
    return step.whole;
  }

  [[nodiscard]] StepShare share() const {
    return {.products = stats::ratio_of_paired_sets(products_),
            .whole = stats::ratio_of_paired_sets(wholes_),
            .bare_gflops = flops_ / stats::median(bares_) * 1e-9};
  }

 private:
  [[nodiscard]] const PairSet& set() const { return plan_[ended_]; }

  void begin_set() {
    sides_.emplace(platform_, model_, training_, set().b_first);
    flops_ = sides_->flops();
    products_.emplace_back();
    wholes_.emplace_back();
  }

  void add(const StepTimes& step, double bare) {
    products_.back().a.push_back(step.products);
    products_.back().b.push_back(bare);
    wholes_.back().a.push_back(step.whole);
    wholes_.back().b.push_back(bare);
    bares_.push_back(bare);
    if (static_cast<int>(products_.back().a.size()) < set().pairs) return;
    ++ended_;
    sides_.reset();
  }

  Platform& platform_;
  const Model& model_;
  const TrainingOptions training_;
  const std::vector<PairSet> plan_;
  std::size_t ended_ = 0;  // number of sets that have ended
  std::optional<Sides> sides_;
  double flops_ = 0;  // FLOPs of a step's products
  std::vector<stats::PairedTimes> products_;
  std::vector<stats::PairedTimes> wholes_;
  std::vector<double> bares_;
};

void set_counters(benchmark::State& state, const std::string& name, const stats::Estimate& share) {
  state.counters[name] = share.center;
  if (!share.interval) return;
  state.counters[name + "_low"] = share.interval->low;
  state.counters[name + "_high"] = share.interval->high;
}

std::string interval_text(const stats::Estimate& share) {
  if (!share.interval) return "too few pairs for an interval";
  return fmt::format("95 % interval {:.4f} to {:.4f}", share.interval->low, share.interval->high);
}

}  // namespace

std::vector<LinearShape> linear_layers(const Model& model, std::int64_t batch) {
  std::vector<LinearShape> layers;
  for (const ParameterLayout::Segment& segment : model.layout().segments()) {
    const auto& dims = segment.shape.dims();
    if (dims.size() == 2) layers.push_back({.batch = batch, .in = dims[1], .out = dims[0]});
  }
  const double flops = model.flops_per_sample() * static_cast<double>(batch);
  if (layers.empty() || std::abs(step_flops(layers) - flops) > 1e-9 * flops) {
    fail(ErrorKind::kUsage,
         "{} is not made of linear layers one after the other: use an mlp, such as mlp-base",
         model.name());
  }
  return layers;
}

BareStep::BareStep(DeviceBench& bench, const Model& model, std::int64_t batch) : bench_(bench) {
  const DType type = bench.is_host() ? DType::kFloat32 : bench.type();
  for (const LinearShape& shape : linear_layers(model, batch)) {
    const std::int64_t inputs = shape.batch * shape.in;
    const std::int64_t weights = shape.in * shape.out;
    layers_.push_back({.shape = shape,
                       .x = bench.random(inputs, type),
                       .dx = layers_.empty() ? AnySpan() : bench.random(inputs, type),
                       .weight = bench.random(weights, type),
                       .dweight = bench.random(weights)});
  }
  const std::int64_t outputs = batch * layers_.back().shape.out;
  output_ = bench.random(outputs, type);
  output_gradient_ = bench.random(outputs, type);
}

void BareStep::enqueue() {
  const auto above = [this](std::size_t i, AnySpan Layer::*values, AnySpan last) {
    return i + 1 < layers_.size() ? layers_[i + 1].*values : last;
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    bare(LinearForward{.shape = layer.shape,
                       .x = layer.x,
                       .weight = layer.weight,
                       .y = above(i, &Layer::x, output_)});
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const AnySpan dy = above(i, &Layer::dx, output_gradient_);
    bare(LinearBackwardWeight{
        .shape = layer.shape, .x = layer.x, .dy = dy, .dweight = layer.dweight});
    if (i == 0) return;
    bare(LinearBackwardInput{
        .shape = layer.shape, .dy = dy, .weight = layer.weight, .dx = layer.dx});
  }
}

double BareStep::flops() const {
  std::vector<LinearShape> shapes;
  for (const Layer& layer : layers_) shapes.push_back(layer.shape);
  return step_flops(shapes);
}

template <class Op>
void BareStep::bare(const Op& op) {
  if (!bench_.is_host()) return bench_.enqueue(op);
  bench_.enqueue_bare([op] { host::bare_product(op); });
}

std::string to_text(const StepShare& share) {
  return fmt::format(
      "forward and backward at {:.4f} of the FLOP/s of bare products ({}); "
      "the whole step at {:.4f} ({})",
      share.products.center, interval_text(share.products), share.whole.center,
      interval_text(share.whole));
}

void run_step_share(const KernelOptions& options, Platform& platform) {
  const BenchmarkFlags flags = read_benchmark_flags("kernel_bench", options.benchmark_flags, 1);
  refuse_repetitions(flags, "the pairs are taken in sets, each built anew: leave it out");
  const auto model = make_model(options.step_of);
  const Precision precision = options.precision.value_or(Precision::kFp32);
  static_cast<void>(linear_layers(*model, options.batch));  // refused before any memory is taken
  if (const auto warning = precision_warning(platform.backend(), precision)) {
    std::cerr << fmt::format("kernel_bench: warning: {}\n", *warning);
  }
  GoogleBenchmark driver("kernel_bench", flags, 0);
  const std::string name = fmt::format(
      "step_share/{}/{}/{}/batch:{}/input:{}", to_string(platform.backend()), name_of(precision),
      model->name(), options.batch, name_of(options.input, kInputs));
  if (driver.leaves_out(name)) {
    driver.add(name, 1, benchmark::kMillisecond, {});
    return driver.run();
  }
  ShareSampler sampler(
      platform, *model,
      {.global_batch = options.batch, .precision = precision, .input = options.input},
      options.pairs);
  StepShare share;
  driver.add(name, options.pairs, benchmark::kMillisecond, [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) {
      state.SetIterationTime(sampler.sample());
    }
    share = sampler.share();
    set_counters(state, "forward_backward_share", share.products);
    set_counters(state, "whole_step_share", share.whole);
    state.counters["bare_gflops"] = share.bare_gflops;
  });
  driver.run();
  std::cerr << to_text(share) << std::endl;
}

}  // namespace tandem::bench
