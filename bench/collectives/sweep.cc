// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/sweep.h"

#include <fmt/ranges.h>

#include <iostream>

#include "bench/driver/flag_values.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/comm/bootstrap.h"
#include "common/model/zoo.h"
#include "common/parallel/replica.h"

namespace tandem::bench {

namespace {

std::vector<SizeToMeasure> sizes_of(const Rank& rank, const CollectiveOptions& options) {
  if (options.sizes_of.empty()) return sizes_given(options);
  return sizes_of_buckets(model_buckets(rank, options.sizes_of, options.bucket_limits));
}

class OrderOfGradients final : public GradientSink {
 public:
  void gradient_ready(int segment) override { segments_.push_back(segment); }
  [[nodiscard]] const std::vector<int>& segments() const { return segments_; }

 private:
  std::vector<int> segments_;
};

std::vector<int> recorded_order(Device& device, const Model& model) {
  const auto input = device.allocate(bytes_of<float>(model.input_width()));
  const Arena gradients = make_arena(device, model.layout());
  Interpreter interpreter(DispatchCosts{});
  OrderOfGradients order;
  Replica replica(device, model, 1, {.phases = {.timing = PhaseTiming::kOff}});
  replica.forward(input->as<float>(model.input_width()), interpreter);
  replica.backward(input->as<float>(model.input_width()), gradients.tensors, order);
  replica.stream().synchronize();
  return order.segments();
}

}  // namespace

CollectiveSweep::CollectiveSweep(const Rank& rank, const CollectiveOptions& options)
    : rank_(rank), options_(options), cases_(cases_of(options, sizes_of(rank, options))) {
  for (CollectiveCase& measured : cases_) {
    measured.calls = calls_per_sample(options, rank.platform.backend());
  }
}

// Ends the run through an exception, also inside Google Benchmark, which then runs no more
// benchmarks.
CollectiveResult CollectiveSweep::measure(const CollectiveCase& measured) {
  CollectiveResult result = measure_collective(rank_, measured, options_.samples);
  wrong_ = result.wrong;
  if (!wrong_.empty()) fail(ErrorKind::kFailure, "{}", wrong_);
  return result;
}

std::string CollectiveSweep::run(GoogleBenchmark* driver) {
  const auto error =
      capture_error([&] { return driver == nullptr ? follow() : run_reporting(*driver); });
  if (error && wrong_.empty()) throw Error(*error);
  return wrong_;
}

// Runs the cases that the reporting rank's Google Benchmark runs, in the same order.
void CollectiveSweep::follow() {
  for (const CollectiveCase& measured : cases_) static_cast<void>(measure(measured));
}

// Options that change the measurement are part of the name, as results of one name are compared.
std::string CollectiveSweep::full_name(const CollectiveCase& measured) const {
  std::string name = name_of(measured, rank_.communicator.size());
  if (options_.job.launch == Launch::kThreads) name += "/threads";
  if (options_.job.transport != Transport::kAuto) {
    name += fmt::format("/comm:{}", name_of(options_.job.transport));
  }
  return name;
}

void CollectiveSweep::run_reporting(GoogleBenchmark& driver) {
  for (const CollectiveCase& measured : cases_) {
    const std::string name = full_name(measured);
    driver.add(name, options_.samples, benchmark::kMicrosecond,
               [this, measured, name](benchmark::State& state) {
                 const CollectiveResult result = measure(measured);
                 if (!result.skipped.empty()) {
                   std::cerr << fmt::format("{}: skipped: {}\n", name, result.skipped);
                 }
                 report(state, measured, result);
               });
  }
  driver.run();
}

std::vector<std::int64_t> model_buckets(const Rank& rank, const std::string& name,
                                        const ddp::BucketLimits& limits) {
  const auto model = make_model(name);
  std::string mine;
  attempt_together(rank.bootstrap, [&] {
    if (rank.bootstrap.rank() != 0) return;
    mine = fmt::format("{}", fmt::join(recorded_order(rank.device, *model), ","));
  });
  std::vector<int> order;
  const std::string everyones = broadcast(rank.bootstrap, mine, 0);
  for (const std::string_view index : split(everyones, ',')) {
    order.push_back(parse_number<int>(index).value());
  }
  std::vector<std::int64_t> counts;
  for (const ddp::BucketPlan& plan : ddp::plan_buckets(model->layout(), order, limits)) {
    counts.push_back(plan.count);
  }
  return counts;
}

}  // namespace tandem::bench
