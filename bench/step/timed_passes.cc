// SPDX-License-Identifier: Apache-2.0
#include "bench/step/timed_passes.h"

#include <algorithm>
#include <tuple>

#include "bench/step/step_work.h"
#include "common/base/error.h"
#include "common/model/replay.h"
#include "common/model/replay_plan.h"

namespace tandem::bench {
namespace {

// The seconds of every product of forward and backward, in the order in which a step has them.
class SecondsInOrder {
 public:
  SecondsInOrder(const Workload& workload, std::size_t batch) {
    const std::vector<ReplayLayer> plan = plan_replay(workload, workload.timing->batches.at(batch));
    for (std::size_t i = 0; i < plan.size(); ++i) {
      add(workload.layers[i].forward.seconds.at(batch), plan[i].forward);
    }
    for (std::size_t i = plan.size(); i-- > 0;) {
      add(workload.layers[i].backward.seconds.at(batch), plan[i].backward);
    }
  }

  [[nodiscard]] double next() { return seconds_.at(next_++); }

 private:
  void add(double seconds, const ReplayPass& pass) {
    const auto products = static_cast<double>(pass.rows.size());
    seconds_.insert(seconds_.end(), pass.rows.size(), seconds / products);
  }

  std::vector<double> seconds_;
  std::size_t next_ = 0;
};

bool is_of_a_pass(const StepOperation& operation) { return operation.name.starts_with("linear_"); }

bool is_product(const StepOperation& operation) {
  static_assert(kLeastProductWidth == 16);
  return operation.key.starts_with("linear_forward 16x16,");
}

void add_batch(const Workload& workload, std::size_t index,
               const std::vector<StepOperation>& operations, MeasuredModel& to) {
  const std::int64_t batch = workload.timing->batches.at(index);
  SecondsInOrder products(workload, index);
  for (const StepOperation& operation : operations) {
    if (!is_of_a_pass(operation)) continue;
    std::vector<MeasuredPoint>& points = to.operations[operation.key];
    const auto is_alike = [&](const MeasuredPoint& point) {
      return std::tuple(point.batch, point.flops, point.bytes) ==
             std::tuple(batch, operation.work.flops, operation.work.moved.value);
    };
    auto found = std::ranges::find_if(points, is_alike);
    if (found == points.end()) {
      points.push_back(
          {.batch = batch, .flops = operation.work.flops, .bytes = operation.work.moved.value});
      found = std::prev(points.end());
    }
    found->seconds.push_back(is_product(operation) ? products.next() : 0);
  }
}

}  // namespace

MeasuredModel times_of_passes(const Workload& workload, Precision precision,
                              const OptimizerOptions& optimizer) {
  const Replay replay(workload);
  MeasuredModel times;
  for (std::size_t i = 0; i < workload.timing->batches.size(); ++i) {
    const std::int64_t batch = workload.timing->batches[i];
    add_batch(workload, i, list_step(replay, batch, precision, optimizer), times);
  }
  return times;
}

}  // namespace tandem::bench
