// SPDX-License-Identifier: Apache-2.0
//
// One forward and backward of a residual network.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/model/resnet.h"
#include "tests/model/model_run.h"

namespace tandem::test {

// As ModelRun, but the gradient comes behind forward, whose output it overwrites.
struct ResNetRun {
  ResNetRun(const Model& tested, std::int64_t samples, Precision precision = Precision::kFp32)
      : model(tested),
        batch(samples),
        x(some_values(batch * model.input_width(), 0.3)),
        dy(some_values(batch * model.output_width(), 0.9)),
        input(device.allocate(Bytes{4 * batch * model.input_width()})),
        gradients(make_arena(device, model.layout())),
        replica(device, model, batch,
                TrainingOptions{.precision = precision, .phases = {PhaseTiming::kOff}},
                OutputType::kFp32) {
    replica.initialise(5, Distribution::kUniform);
    replica.stream().synchronize();
    put(device, input->as<float>(), x);
  }

  void run() {
    Interpreter interpreter(DispatchCosts{});
    replica.forward(input->as<float>(), interpreter);
    replica.stream().synchronize();
    output = read_back<float>(device, replica.output().as<float>());
    put(device, replica.output_gradient().as<float>(), dy);
    replica.backward(input->as<float>(), gradients.tensors, sink);
    replica.stream().synchronize();
  }

  [[nodiscard]] std::vector<float> parameter(const std::string& name) {
    const auto& segments = model.layout().segments();
    const auto at = std::ranges::find(segments, name, &ParameterLayout::Segment::name);
    return read_back<float>(device, replica.parameters().tensors[at - segments.begin()]);
  }
  [[nodiscard]] std::vector<float> gradient(std::size_t segment) {
    return read_back<float>(device, gradients.tensors[segment]);
  }
  [[nodiscard]] std::vector<float> buffer(std::size_t segment) {
    return read_back<float>(device, replica.state().buffers[segment]);
  }

  const std::unique_ptr<Platform> platform = host_devices(1);
  Device& device = platform->device(0);
  const Model& model;
  const std::int64_t batch;
  const std::vector<float> x;
  const std::vector<float> dy;
  const std::unique_ptr<Buffer> input;
  const Arena gradients;
  std::vector<float> output;
  Recorder sink;
  Replica replica;
};

}  // namespace tandem::test
