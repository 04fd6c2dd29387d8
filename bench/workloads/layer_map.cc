// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/layer_map.h"

#include <algorithm>
#include <map>

#include "common/base/error.h"

namespace tandem::bench {
namespace {

struct SeenOperation {
  const void* parameter = nullptr;
  double flops = 0;
  std::int64_t calls = 0;  // interpreter calls charged by then
};

class MappingProbe final : public StepProbe {
 public:
  explicit MappingProbe(const ProbedStep& step) : step_(step) {}

  void begin_forward(Stream& /*stream*/) override { is_forward_ = true; }
  void end_forward(Stream& /*stream*/) override { calls_ = step_.calls(); }
  void begin_backward(Stream& /*stream*/) override { is_forward_ = false; }

  void before(Stream& /*stream*/, const WatchedOperation& operation) override {
    if (is_forward_) {
      forward_.push_back({operation.parameter, operation.flops, step_.calls()});
      return;
    }
    if (layers_.empty() || is_ready_) layers_.emplace_back();
    is_ready_ = false;
    ++layers_.back().operations.backward;
    layers_.back().backward_flops += operation.flops;
  }

  void gradient_ready(int segment) override {
    TANDEM_CHECK(!layers_.empty(), "segment {} is ready before any operation", segment);
    layers_.back().segments.push_back(segment);
    is_ready_ = true;
  }

  std::vector<MappedLayer> finish();

 private:
  void merge_tail();

  const ProbedStep& step_;
  bool is_forward_ = true;
  bool is_ready_ = false;            // some gradient became ready since the last operation
  std::vector<MappedLayer> layers_;  // in the order of backward until finish()
  std::vector<SeenOperation> forward_;
  std::int64_t calls_ = 0;  // calls of all of forward
};

// Operations behind the last gradient belong to that gradient's layer.
void MappingProbe::merge_tail() {
  if (layers_.size() < 2 || !layers_.back().segments.empty()) return;
  const MappedLayer tail = layers_.back();
  layers_.pop_back();
  layers_.back().operations.backward += tail.operations.backward;
  layers_.back().backward_flops += tail.backward_flops;
}

std::vector<MappedLayer> MappingProbe::finish() {
  merge_tail();
  std::reverse(layers_.begin(), layers_.end());
  std::map<const void*, std::size_t> layer_of;
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    for (const int segment : layers_[layer].segments) {
      layer_of[step_.weights().at(static_cast<std::size_t>(segment)).data()] = layer;
    }
  }
  std::size_t current = 0;
  std::int64_t charged = 0;
  for (const SeenOperation& operation : forward_) {
    const auto found = layer_of.find(operation.parameter);
    if (found != layer_of.end()) current = std::max(current, found->second);
    ++layers_[current].operations.forward;
    layers_[current].forward_flops += operation.flops;
    layers_[current].calls += operation.calls - charged;
    charged = operation.calls;
  }
  layers_.back().calls += calls_ - charged;
  return layers_;
}

}  // namespace

std::vector<MappedLayer> map_layers(ProbedStep& step) {
  const std::int64_t before = step.calls();
  TANDEM_CHECK(before == 0, "{} calls were charged by steps before", before);
  MappingProbe probe(step);
  step.run(probe);
  return probe.finish();
}

}  // namespace tandem::bench
