// SPDX-License-Identifier: Apache-2.0
//
// Stacks of linear layers in plain loops and doubles, sharing no code with the models, and one
// forward and backward of a model to hold against them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/parallel/replica.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

using Values = std::vector<double>;

struct PlainLayer {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool has_bias = true;
  bool relu = false;
};

// Parameters as the models register them: weight (out, in), bias (out) if any, per layer.
struct PlainStack {
  std::vector<PlainLayer> layers;
  std::vector<Values> parameters;

  // `segment` is the layer's weight.
  [[nodiscard]] Values apply(const PlainLayer& layer, std::size_t segment, const Values& x) const {
    const auto in = static_cast<std::size_t>(layer.in);
    const auto out = static_cast<std::size_t>(layer.out);
    Values y;
    for (std::size_t row = 0; row < x.size() / in; ++row) {
      for (std::size_t o = 0; o < out; ++o) {
        double sum = layer.has_bias ? parameters[segment + 1][o] : 0.0;
        for (std::size_t i = 0; i < in; ++i)
          sum += x[row * in + i] * parameters[segment][o * in + i];
        y.push_back(layer.relu ? std::max(sum, 0.0) : sum);
      }
    }
    return y;
  }

  [[nodiscard]] Values output(Values x) const {
    std::size_t segment = 0;
    for (const PlainLayer& layer : layers) {
      x = apply(layer, segment, x);
      segment += layer.has_bias ? 2 : 1;
    }
    return x;
  }

  // The scalar whose gradient by the output is `dy`.
  [[nodiscard]] double objective(const Values& x, const Values& dy) const {
    const Values y = output(x);
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  }
};

[[nodiscard]] inline Values as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// Fixed whole numbers from -1 to 1.
[[nodiscard]] inline std::vector<float> integers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7) % 3 - 1));
  return values;
}

// Fixed values of both signs, no two alike.
[[nodiscard]] inline std::vector<float> some_values(std::int64_t count, double phase) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(phase + 1.7 * static_cast<double>(i))));
  }
  return values;
}

class Recorder final : public GradientSink {
 public:
  void gradient_ready(int segment) override { order.push_back(segment); }
  std::vector<int> order;
};

// One forward and backward of a model on a host device, on whole numbers where weights are such.
struct ModelRun {
  ModelRun(const Model& model, std::int64_t batch, Precision precision = Precision::kFp32,
           Distribution distribution = Distribution::kUniform)
      : x(distribution == Distribution::kUniform ? some_values(batch * model.input_width(), 0.3)
                                                 : integers(batch * model.input_width())),
        dy(distribution == Distribution::kUniform ? some_values(batch * model.output_width(), 0.9)
                                                  : integers(batch * model.output_width())),
        input(device.allocate(Bytes{4 * batch * model.input_width()})),
        gradients(make_arena(device, model.layout())),
        replica(device, model, batch,
                TrainingOptions{.precision = precision, .phases = {PhaseTiming::kOff}},
                OutputType::kFp32) {
    replica.initialise(5, distribution);
    put(device, input->as<float>(), x);
    put(device, replica.output_gradient().as<float>(), dy);
    Interpreter interpreter(DispatchCosts{});
    replica.forward(input->as<float>(), interpreter);
    replica.backward(input->as<float>(), gradients.tensors, sink);
    replica.stream().synchronize();
  }

  [[nodiscard]] PlainStack plain(const std::vector<PlainLayer>& layers) {
    PlainStack same{layers, {}};
    for (const Span<float> tensor : replica.parameters().tensors) {
      same.parameters.push_back(as_doubles(read_back<float>(device, tensor)));
    }
    return same;
  }
  [[nodiscard]] Values output() {
    return as_doubles(read_back<float>(device, replica.output().as<float>()));
  }
  [[nodiscard]] Values gradient(std::size_t segment) {
    return as_doubles(read_back<float>(device, gradients.tensors[segment]));
  }

  const std::unique_ptr<Platform> platform = host_devices(1);
  Device& device = platform->device(0);
  const std::vector<float> x;
  const std::vector<float> dy;
  const std::unique_ptr<Buffer> input;
  const Arena gradients;
  Recorder sink;
  Replica replica;
};

inline void expect_forward_is_plain(const Model& model, const std::vector<PlainLayer>& layers,
                                    std::int64_t batch) {
  ModelRun run(model, batch);
  const Values expected = run.plain(layers).output(as_doubles(run.x));
  const Values found = run.output();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

// Compares every `stride`-th element of each parameter.
inline void expect_backward_is_finite_difference(const Model& model,
                                                 const std::vector<PlainLayer>& layers,
                                                 std::int64_t batch, std::size_t stride = 1) {
  ModelRun run(model, batch);
  PlainStack plain = run.plain(layers);
  const Values x = as_doubles(run.x);
  const Values dy = as_doubles(run.dy);
  constexpr double kStep = 1e-6;
  for (std::size_t segment = 0; segment < plain.parameters.size(); ++segment) {
    const Values found = run.gradient(segment);
    ASSERT_EQ(found.size(), plain.parameters[segment].size());
    for (std::size_t i = 0; i < found.size(); i += stride) {
      double& parameter = plain.parameters[segment][i];
      const double before = parameter;
      parameter = before + kStep;
      const double above = plain.objective(x, dy);
      parameter = before - kStep;
      const double below = plain.objective(x, dy);
      parameter = before;
      EXPECT_NEAR(found[i], (above - below) / (2 * kStep), 1e-4) << segment << ", " << i;
    }
  }
}

}  // namespace tandem::test
