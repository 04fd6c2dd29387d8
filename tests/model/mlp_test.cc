// SPDX-License-Identifier: Apache-2.0
//
// The MLP against one in plain loops and doubles that shares no code with it.
#include "common/model/mlp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/parallel/arena.h"
#include "common/parallel/replica.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using Values = std::vector<double>;
using Widths = std::vector<std::int64_t>;

// Parameters as the MLP registers them: weight (out, in), bias (out), per layer.
struct PlainMlp {
  Widths widths;
  std::vector<Values> parameters;

  [[nodiscard]] Values layer(std::size_t index, const Values& x, std::int64_t batch) const {
    const auto in = static_cast<std::size_t>(widths[index]);
    const auto out = static_cast<std::size_t>(widths[index + 1]);
    Values y;
    for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b) {
      for (std::size_t o = 0; o < out; ++o) {
        double sum = parameters[2 * index + 1][o];
        for (std::size_t i = 0; i < in; ++i)
          sum += x[b * in + i] * parameters[2 * index][o * in + i];
        y.push_back(index + 2 < widths.size() ? std::max(sum, 0.0) : sum);
      }
    }
    return y;
  }

  [[nodiscard]] Values output(Values x, std::int64_t batch) const {
    for (std::size_t index = 0; index + 1 < widths.size(); ++index) x = layer(index, x, batch);
    return x;
  }

  // The scalar whose gradient by the output is `dy`.
  [[nodiscard]] double objective(const Values& x, std::int64_t batch, const Values& dy) const {
    const Values y = output(x, batch);
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  }
};

Values as_doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

// Fixed values of both signs, no two alike.
std::vector<float> some_values(std::int64_t count, double phase) {
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

// One forward and backward of an MLP on a host device.
struct MlpRun {
  MlpRun(const Widths& widths, std::int64_t batch)
      : model("under test", widths),
        x(some_values(batch * widths.front(), 0.3)),
        dy(some_values(batch * widths.back(), 0.9)),
        input(device.allocate(Bytes{4 * batch * widths.front()})),
        gradients(make_arena(device, model.layout())),
        replica(device, model, batch, PhaseTiming::kOff) {
    replica.initialise(5, Distribution::kUniform);
    put(device, input->as<float>(), x);
    put(device, replica.output_gradient(), dy);
    replica.forward(input->as<float>());
    replica.backward(input->as<float>(), gradients.tensors, sink);
    replica.stream().synchronize();
  }

  [[nodiscard]] PlainMlp plain(const Widths& widths) {
    PlainMlp same{widths, {}};
    for (const Span<float> tensor : replica.parameters().tensors) {
      same.parameters.push_back(as_doubles(read_back<float>(device, tensor)));
    }
    return same;
  }
  [[nodiscard]] Values output() { return as_doubles(read_back<float>(device, replica.output())); }
  [[nodiscard]] Values gradient(std::size_t segment) {
    return as_doubles(read_back<float>(device, gradients.tensors[segment]));
  }

  const std::unique_ptr<Platform> platform = host_devices(1);
  Device& device = platform->device(0);
  const Mlp model;
  const std::vector<float> x;
  const std::vector<float> dy;
  const std::unique_ptr<Buffer> input;
  const Arena gradients;
  Recorder sink;
  Replica replica;
};

const Widths kTiny{3, 5, 4, 2};
constexpr std::int64_t kBatch = 6;

TEST(MlpTest, Forward_EqualsPlainLoops) {
  for (const Widths& widths : {kTiny, Widths{7, 3}, Widths{33, 17, 65}}) {
    MlpRun run(widths, kBatch);
    const Values expected = run.plain(widths).output(as_doubles(run.x), kBatch);
    const Values found = run.output();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  }
}

TEST(MlpTest, Backward_EqualsFiniteDifferencesOfPlainLoops) {
  MlpRun run(kTiny, kBatch);
  PlainMlp plain = run.plain(kTiny);
  const Values x = as_doubles(run.x);
  const Values dy = as_doubles(run.dy);
  constexpr double kStep = 1e-6;
  for (std::size_t segment = 0; segment < plain.parameters.size(); ++segment) {
    const Values found = run.gradient(segment);
    ASSERT_EQ(found.size(), plain.parameters[segment].size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      double& parameter = plain.parameters[segment][i];
      const double before = parameter;
      parameter = before + kStep;
      const double above = plain.objective(x, kBatch, dy);
      parameter = before - kStep;
      const double below = plain.objective(x, kBatch, dy);
      parameter = before;
      EXPECT_NEAR(found[i], (above - below) / (2 * kStep), 1e-4) << segment << ", " << i;
    }
  }
}

TEST(MlpTest, Gradients_AreReadyBiasThenWeight_FromLastLayerToFirst) {
  MlpRun run(kTiny, 1);
  EXPECT_EQ(run.sink.order, (std::vector<int>{5, 4, 3, 2, 1, 0}));
}

TEST(MlpTest, Layout_IsWeightThenBiasPerLayer) {
  const Mlp model("m", {3, 5, 2});
  std::vector<std::string> names;
  for (const auto& segment : model.layout().segments()) names.push_back(segment.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layer0.weight", "layer0.bias", "layer1.weight",
                                             "layer1.bias"}));
  EXPECT_EQ(model.layout().segments()[0].shape, (Shape{5, 3}));
  EXPECT_EQ(model.layout().segments()[1].shape, (Shape{5}));
}

std::vector<float> initial_weights(Device& device, const Model& model, std::uint64_t seed) {
  Replica replica(device, model, 1, PhaseTiming::kOff);
  replica.initialise(seed, Distribution::kUniform);
  replica.stream().synchronize();
  return read_back<float>(device, replica.parameters().flat);
}

TEST(MlpTest, Initialise_IsTheSameOnAnyDevice_AndFollowsTheSeed) {
  const auto platform = host_devices(2);
  const Mlp model("m", {40, 60, 20});
  const auto weights = initial_weights(platform->device(0), model, 3);
  EXPECT_EQ(initial_weights(platform->device(1), model, 3), weights);
  EXPECT_NE(initial_weights(platform->device(0), model, 4), weights);
}

// torch's Linear: weights and biases uniform in +-1/sqrt(fan in).
TEST(MlpTest, Initialise_FillsTorchsBound) {
  const auto platform = host_devices(1);
  const Mlp model("m", {100, 400, 400});
  const auto weights = initial_weights(platform->device(0), model, 3);
  for (const auto& segment : model.layout().segments()) {
    const double bound = segment.name.starts_with("layer0") ? 0.1 : 0.05;
    double largest = 0;
    double sum = 0;
    for (std::int64_t i = 0; i < segment.count; ++i) {
      const double value = weights[static_cast<std::size_t>(segment.offset + i)];
      largest = std::max(largest, std::abs(value));
      sum += value;
    }
    EXPECT_LE(largest, bound * (1 + 1e-6)) << segment.name;
    EXPECT_GT(largest, bound * 0.95) << segment.name;
    EXPECT_LT(std::abs(sum) / static_cast<double>(segment.count), 0.15 * bound) << segment.name;
  }
}

TEST(MlpTest, Initialise_LeavesTheGapsZero) {
  const auto platform = host_devices(1);
  const Mlp model("m", {3, 5, 2});
  const auto weights = initial_weights(platform->device(0), model, 3);
  for (const auto& segment : model.layout().segments()) {
    for (std::int64_t i = segment.count; i < aligned_count(segment.count); ++i) {
      EXPECT_EQ(weights[static_cast<std::size_t>(segment.offset + i)], 0.0F);
    }
  }
}

}  // namespace
}  // namespace tandem::test
