// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/model_buckets.h"

#include <fmt/ranges.h>

#include "bench/driver/comma_list.h"
#include "common/comm/bootstrap.h"
#include "common/model/zoo.h"
#include "common/parallel/replica.h"

namespace tandem::bench {
namespace {

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
  Interpreter interpreter(Nanoseconds{0});
  OrderOfGradients order;
  Replica replica(device, model, 1, {.phases = {.timing = PhaseTiming::kOff}});
  replica.forward(input->as<float>(model.input_width()), interpreter);
  replica.backward(input->as<float>(model.input_width()), gradients.tensors, order);
  replica.stream().synchronize();
  return order.segments();
}

}  // namespace

std::vector<std::int64_t> model_buckets(const Rank& rank, const std::string& name,
                                        const ddp::BucketLimits& limits) {
  const auto model = make_model(name);
  std::string mine;
  attempt_together(rank.bootstrap, [&] {
    if (rank.bootstrap.rank() != 0) return;
    mine = fmt::format("{}", fmt::join(recorded_order(rank.device, *model), ","));
  });
  std::vector<int> order;
  for (const std::string& segment : parts_of(broadcast(rank.bootstrap, mine, 0))) {
    order.push_back(std::stoi(segment));
  }
  std::vector<std::int64_t> counts;
  for (const ddp::BucketPlan& plan : ddp::plan_buckets(model->layout(), order, limits)) {
    counts.push_back(plan.count);
  }
  return counts;
}

}  // namespace tandem::bench
