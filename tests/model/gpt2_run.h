// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/model/gpt2.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/tensor/random.h"
#include "tests/model/model_run.h"

namespace tandem::test {

// gpt2-nano, of samples of `sequence` tokens.
[[nodiscard]] inline Gpt2 nano(std::int64_t sequence) {
  return {"nano", {2, 2, 64, 512, 32, sequence}};
}

// One forward, loss and backward of a GPT-2 on a device, of the host unless given, with weights
// large enough that no part of it is nearly linear. Gradients are garbage before. The model
// outlives this.
struct Gpt2Run {
  Gpt2Run(const Gpt2& model, std::int64_t batch, Precision precision = Precision::kFp32,
          std::unique_ptr<Platform> given = host_devices(1))
      : platform(std::move(given)),
        data(*platform, batch_shape(model, {0, batch}), 1, Distribution::kUniform),
        input(device.allocate(data.inputs().size_bytes())),
        targets(device.allocate(data.targets().size_bytes())),
        gradients(make_arena(device, model.layout())),
        replica(device, model, batch,
                TrainingOptions{.precision = precision, .phases = {PhaseTiming::kOff}}) {
    put(device, input->as<float>(), ids());
    put(device, targets->as<float>(), next());
    for (std::size_t i = 0; i < gradients.tensors.size(); ++i) set(model, i);
    run();
  }

  Gpt2Run(const Gpt2&& model, std::int64_t batch, Precision precision = Precision::kFp32) = delete;

  void run() {
    Interpreter interpreter(DispatchCosts{});
    replica.forward(input->as<float>(), interpreter);
    replica.compute_loss(targets->as<float>(), loss->as<float>(), interpreter);
    replica.backward(input->as<float>(), gradients.tensors, sink);
    replica.stream().synchronize();
  }

  [[nodiscard]] std::vector<float> ids() const {
    return {data.inputs().begin(), data.inputs().end()};
  }
  [[nodiscard]] std::vector<float> next() const {
    return {data.targets().begin(), data.targets().end()};
  }
  [[nodiscard]] double found_loss() { return read_back<float>(device, loss->as<float>()).front(); }
  [[nodiscard]] std::vector<float> gradient(std::size_t segment) {
    return read_back<float>(device, gradients.tensors[segment]);
  }

  const std::unique_ptr<Platform> platform;
  Device& device = platform->device(0);
  const SyntheticBatch data;
  const std::unique_ptr<Buffer> input;
  const std::unique_ptr<Buffer> targets;
  const std::unique_ptr<Buffer> loss = device.allocate(bytes_of<float>(1));
  const Arena gradients;
  Recorder sink;
  Replica replica;

 private:
  void set(const Gpt2& model, std::size_t segment) {
    const ParameterLayout::Segment& known = model.layout().segments()[segment];
    std::vector<float> values(static_cast<std::size_t>(known.count));
    fill_uniform(values, segment, 0, 0.2F);
    const bool is_gain =
        known.name.find("ln_") != std::string::npos && known.name.ends_with("weight");
    for (float& value : values) value += is_gain ? 1.0F : 0.0F;
    put(device, replica.parameters().tensors[segment], values);
    put(device, gradients.tensors[segment],
        std::vector<float>(values.size(), std::numeric_limits<float>::quiet_NaN()));
  }
};

}  // namespace tandem::test
