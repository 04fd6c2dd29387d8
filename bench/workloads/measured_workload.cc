// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/measured_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/workloads/layer_map.h"
#include "bench/workloads/layer_times.h"
#include "common/base/error.h"

namespace tandem::bench {
namespace {

std::vector<LayerOperations> operations_of(const std::vector<MappedLayer>& layers) {
  std::vector<LayerOperations> all;
  for (const MappedLayer& layer : layers) all.push_back(layer.operations);
  return all;
}

std::vector<WorkloadBuffer> named(const ParameterLayout& layout) {
  std::vector<WorkloadBuffer> tensors;
  for (const ParameterLayout::Segment& segment : layout.segments()) {
    tensors.push_back({segment.name, segment.shape});
  }
  return tensors;
}

// Adds the layers, the tensors in the order in which backward makes their gradients, and each
// tensor's place.
void add_layers(Workload& workload, const Model& model, const std::vector<MappedLayer>& layers,
                std::int64_t batch) {
  const auto& segments = model.layout().segments();
  const auto of_sample = [batch](double flops) { return flops / static_cast<double>(batch); };
  for (const MappedLayer& layer : layers) {
    const std::string& name = segments.at(static_cast<std::size_t>(layer.segments.front())).name;
    workload.layers.push_back({.name = name,
                               .forward = {.operations = layer.operations.forward,
                                           .flops = of_sample(layer.forward_flops)},
                               .backward = {.operations = layer.operations.backward,
                                            .flops = of_sample(layer.backward_flops)},
                               .calls = layer.calls});
  }
  for (std::size_t i = layers.size(); i-- > 0;) {
    for (const int index : layers[i].segments) {
      const auto segment = static_cast<std::size_t>(index);
      workload.tensors.push_back({.name = segments.at(segment).name,
                                  .shape = segments.at(segment).shape,
                                  .layer = i,
                                  .registered = segment});
    }
  }
}

// Adds the activations: a model keeps activations in one object, so all bytes but those of the
// model's ends are shared out evenly.
void add_activations(Workload& workload, Bytes all, std::int64_t batch) {
  const bool is_shared = workload.objective.kind == ObjectiveKind::kCrossEntropy;
  const Bytes ends = bytes_of<float>(batch * workload.output_width * (is_shared ? 1 : 2));
  const auto layers = static_cast<std::int64_t>(workload.layers.size());
  const std::int64_t kept = std::max<std::int64_t>(0, (all - ends).value) / batch / layers;
  for (WorkloadLayer& layer : workload.layers) layer.activation_bytes = kept;
}

// Rounds to nanoseconds: finer digits are noise that people would have to read.
double rounded(double seconds) { return std::round(seconds * 1e9) * 1e-9; }

void add_times(Workload& workload, const std::vector<LayerSeconds>& times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    workload.layers[i].forward.seconds.push_back(rounded(times[i].forward));
    workload.layers[i].backward.seconds.push_back(rounded(times[i].backward));
  }
}

Workload described(const Model& model, const Device& device,
                   const std::vector<std::int64_t>& batches, Precision precision) {
  return {.name = model.name(),
          .origin = fmt::format("Tandem's {}, measured layer by layer", model.name()),
          .modules = model.module_count(),
          .input_width = model.input_width(),
          .input_classes = model.input_classes(),
          .output_width = model.output_width(),
          .objective = model.objective(),
          .timing = WorkloadTiming{.precision = std::string(name_of(precision)),
                                   .device = device.name(),
                                   .batches = batches},
          .buffers = named(model.buffers())};
}

}  // namespace

std::vector<std::int64_t> batches_to_measure(std::int64_t batch) {
  std::vector<std::int64_t> batches;
  for (const std::int64_t parts : {8, 4, 2, 1}) {
    const std::int64_t share = std::max<std::int64_t>(batch / parts, 1);
    if (batches.empty() || batches.back() < share) batches.push_back(share);
  }
  return batches;
}

Workload measure_workload(Platform& platform, Device& device, const Model& model,
                          const std::vector<std::int64_t>& batches, Precision precision) {
  Workload workload = described(model, device, batches, precision);
  for (const std::int64_t batch : batches) {
    ProbedStep step(platform, device, model, batch, precision);
    const std::vector<MappedLayer> layers = map_layers(step);
    if (workload.layers.empty()) add_layers(workload, model, layers, batch);
    TANDEM_CHECK(layers.size() == workload.layers.size(), "{} layers with a batch of {}, else {}",
                 layers.size(), batch, workload.layers.size());
    add_times(workload, time_layers(device, step, operations_of(layers)));
    if (batch == batches.back()) add_activations(workload, step.activation_bytes(), batch);
  }
  return workload;
}

}  // namespace tandem::bench
