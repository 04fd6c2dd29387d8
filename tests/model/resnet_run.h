// SPDX-License-Identifier: Apache-2.0
//
// A residual network by the names of its parameters, in the naive operations' formulas and doubles,
// sharing no code with the model, and one forward and backward of a model to hold against it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/resnet.h"
#include "tests/kernels/naive/naive_image.h"
#include "tests/kernels/naive/naive_loops.h"
#include "tests/model/model_run.h"

namespace tandem::test {

// The values of `samples` square images, channels last.
struct PlainImages {
  std::int64_t samples = 0;
  std::int64_t size = 0;
  std::int64_t channels = 0;
  Values values{};
};

struct PlainResNet {
  std::vector<std::int64_t> blocks_of_stages;
  std::map<std::string, Values> parameters;

  [[nodiscard]] PlainImages convolve(const PlainImages& x, const std::string& name,
                                     std::int64_t kernel, std::int64_t stride) const {
    const Values& weight = parameters.at(name + ".weight");
    const auto out = static_cast<std::int64_t>(weight.size()) / (kernel * kernel * x.channels);
    const ConvolutionShape shape{x.samples, x.size, x.size, x.channels,
                                 out,       kernel, stride, kernel / 2};
    PlainImages y{x.samples, shape.out_height(), out, {}};
    y.values.resize(static_cast<std::size_t>(shape.output_count()));
    naive_loops::convolution_forward(shape, x.values.data(), weight.data(), y.values.data());
    return y;
  }

  [[nodiscard]] PlainImages normalise(PlainImages x, const std::string& name) const {
    const auto channels = static_cast<std::size_t>(x.channels);
    const std::size_t rows = x.values.size() / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      double squares = 0;
      for (std::size_t r = 0; r < rows; ++r) sum += x.values[r * channels + c];
      const double mean = sum / static_cast<double>(rows);
      for (std::size_t r = 0; r < rows; ++r) {
        squares += std::pow(x.values[r * channels + c] - mean, 2);
      }
      const double deviation = std::sqrt(squares / static_cast<double>(rows) + 1e-5);
      for (std::size_t r = 0; r < rows; ++r) {
        double& value = x.values[r * channels + c];
        value = (value - mean) / deviation * parameters.at(name + ".weight")[c] +
                parameters.at(name + ".bias")[c];
      }
    }
    return x;
  }

  [[nodiscard]] static PlainImages rectify(PlainImages x) {
    for (double& value : x.values) value = std::max(value, 0.0);
    return x;
  }

  // torchvision's Bottleneck.
  [[nodiscard]] PlainImages block(const PlainImages& x, const std::string& name,
                                  std::int64_t stride) const {
    PlainImages y = rectify(normalise(convolve(x, name + ".conv1", 1, 1), name + ".bn1"));
    y = rectify(normalise(convolve(y, name + ".conv2", 3, stride), name + ".bn2"));
    y = normalise(convolve(y, name + ".conv3", 1, 1), name + ".bn3");
    const bool changes = parameters.contains(name + ".downsample.0.weight");
    const PlainImages beside =
        changes ? normalise(convolve(x, name + ".downsample.0", 1, stride), name + ".downsample.1")
                : x;
    for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += beside.values[i];
    return rectify(std::move(y));
  }

  [[nodiscard]] Values output(PlainImages x) const {
    x = rectify(normalise(convolve(x, "conv1", 7, 2), "bn1"));
    const MaxPoolShape pool{x.samples, x.size, x.size, x.channels};
    Values most(static_cast<std::size_t>(pool.output_count()));
    naive_loops::max_pool_forward(pool, x.values.data(), most.data());
    x = {x.samples, pool.out_height(), x.channels, std::move(most)};
    for (std::size_t stage = 0; stage < blocks_of_stages.size(); ++stage) {
      for (std::int64_t i = 0; i < blocks_of_stages[stage]; ++i) {
        x = block(x, fmt::format("layer{}.{}", stage + 1, i), stage > 0 && i == 0 ? 2 : 1);
      }
    }
    Values means(static_cast<std::size_t>(x.samples * x.channels));
    naive_loops::average_pool_forward({x.samples, x.size * x.size, x.channels}, x.values.data(),
                                      means.data());
    const Values& bias = parameters.at("fc.bias");
    const LinearShape head{x.samples, x.channels, std::ssize(bias)};
    Values y(static_cast<std::size_t>(head.batch * head.out));
    naive_loops::linear_forward(head, means.data(), parameters.at("fc.weight").data(), bias.data(),
                                y.data(), Activation::kNone);
    return y;
  }
};

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

  [[nodiscard]] PlainResNet plain(std::vector<std::int64_t> blocks_of_stages) {
    PlainResNet same{std::move(blocks_of_stages), {}};
    for (std::size_t i = 0; i < model.layout().segments().size(); ++i) {
      same.parameters[model.layout().segments()[i].name] =
          as_doubles(read_back<float>(device, replica.parameters().tensors[i]));
    }
    return same;
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
