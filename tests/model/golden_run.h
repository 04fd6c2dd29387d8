// SPDX-License-Identifier: Apache-2.0
//
// A model on the weights and the batch of a golden file, on a device of any back end.
#pragma once

#include <gtest/gtest.h>

#include "common/model/zoo.h"
#include "common/optim/optimizer.h"
#include "common/parallel/replica.h"
#include "tests/support/golden.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

class GoldenRun {
 public:
  // `images`: as a GPU shall compute; on the host channels are last.
  GoldenRun(Device& device, const Golden& golden,
            const ImageOptions& images = {.fp32_factors = true, .channels_last = true})
      : golden_(golden),
        device_(device),
        channels_last_(images.channels_last),
        model_(make_model(golden.model)),
        names_(names_of(model_->layout())),
        buffer_names_(names_of(model_->buffers())),
        input_(on_device("input")),
        target_(on_device("target")),
        loss_(device.allocate(bytes_of<float>(1))),
        gradients_(make_arena(device, model_->layout())),
        replica_(device, *model_, golden.batch, {.images = images, .phases = {PhaseTiming::kOff}}) {
    replica_.initialise(1, Distribution::kUniform);  // for buffers: the file has them after steps
    replica_.stream().synchronize();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      put(device, replica_.parameters().tensors[i], stored(golden.tensor("weight/" + names_[i])));
    }
  }

  // The names of the parameters, and of the buffers, by segment.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] const std::vector<std::string>& buffer_names() const { return buffer_names_; }

  // What the model gives for the batch. Read before the loss, whose gradient may overwrite it.
  [[nodiscard]] std::vector<float> output() {
    replica_.forward(input_->as<float>(), interpreter_);
    replica_.stream().synchronize();
    return read_back<float>(device_, replica_.output().as<float>());
  }

  // From the weights as they are.
  void forward_backward() {
    IgnoreGradients nobody;
    replica_.forward(input_->as<float>(), interpreter_);
    replica_.compute_loss(target_->as<float>(), loss_->as<float>(), interpreter_);
    replica_.backward(input_->as<float>(), gradients_.tensors, nobody);
    replica_.stream().synchronize();
  }

  void steps(const OptimizerOptions& options) {
    const auto optimizer = make_optimizer(device_, model_->layout().arena_count(), options);
    for (int step = 0; step < golden_.steps; ++step) {
      forward_backward();
      optimizer->step(replica_.operations(), replica_.stream(), replica_.parameters().flat,
                      gradients_.flat);
    }
    replica_.stream().synchronize();
  }

  [[nodiscard]] std::vector<float> loss() { return read_back<float>(device_, loss_->as<float>()); }
  [[nodiscard]] std::vector<float> gradient(std::size_t segment) {
    return turned_back(read_back<float>(device_, gradients_.tensors.at(segment)), segment);
  }
  [[nodiscard]] std::vector<float> weight(std::size_t segment) {
    return turned_back(read_back<float>(device_, replica_.parameters().tensors.at(segment)),
                       segment);
  }
  [[nodiscard]] std::vector<float> buffer(std::size_t segment) {
    return read_back<float>(device_, replica_.buffers().tensors.at(segment));
  }

 private:
  static std::vector<std::string> names_of(const ParameterLayout& layout) {
    std::vector<std::string> names;
    for (const auto& segment : layout.segments()) names.push_back(segment.name);
    return names;
  }

  [[nodiscard]] std::unique_ptr<Buffer> on_device(const std::string& tensor) {
    const std::vector<float> values = stored(golden_.tensor(tensor));
    auto buffer = device_.allocate(bytes_of<float>(std::ssize(values)));
    put(device_, buffer->as<float>(), values);
    return buffer;
  }

  // What has (first, height, width, channels) as it lies here.
  [[nodiscard]] std::vector<float> stored(const GoldenTensor& tensor) const {
    const auto& s = tensor.shape.dims();
    if (channels_last_ || s.size() != 4) return tensor.all();
    return transposed(tensor.all(), s[0], s[1] * s[2], s[3]);
  }
  [[nodiscard]] std::vector<float> turned_back(std::vector<float> values,
                                               std::size_t segment) const {
    const auto& s = model_->layout().segments()[segment].shape.dims();
    if (channels_last_ || s.size() != 4) return values;
    return transposed(values, s[0], s[3], s[1] * s[2]);
  }

  // Each of `count` matrices.
  static std::vector<float> transposed(const std::vector<float>& values, std::int64_t count,
                                       std::int64_t rows, std::int64_t columns) {
    std::vector<float> result;
    for (std::int64_t i = 0; i < count * rows * columns; ++i) {
      const std::int64_t matrix = i / (rows * columns) * rows * columns;
      const std::int64_t from = i % rows * columns + i % (rows * columns) / rows;
      result.push_back(values[static_cast<std::size_t>(matrix + from)]);
    }
    return result;
  }

  const Golden& golden_;
  Device& device_;
  const bool channels_last_;
  Interpreter interpreter_{DispatchCosts{}};
  const std::unique_ptr<Model> model_;
  const std::vector<std::string> names_;
  const std::vector<std::string> buffer_names_;
  const std::unique_ptr<Buffer> input_;
  const std::unique_ptr<Buffer> target_;
  const std::unique_ptr<Buffer> loss_;
  const Arena gradients_;
  Replica replica_;
};

// To rounding: relative to the tensor as a whole.
inline void expect_golden(const Golden& golden, const std::string& tensor,
                          const std::vector<float>& found) {
  EXPECT_LE(golden.tensor(tensor).distance(found), 1e-5)
      << tensor << " of " << golden.model << " against torch " << golden.torch;
}

inline void expect_golden_gradients(GoldenRun& run, const Golden& golden) {
  expect_golden(golden, "output", run.output());
  run.forward_backward();
  expect_golden(golden, "loss", run.loss());
  for (std::size_t i = 0; i < run.names().size(); ++i) {
    expect_golden(golden, "gradient/" + run.names()[i], run.gradient(i));
  }
}

// Weights and buffers; `optimizer` as the file calls it.
inline void expect_golden_steps(GoldenRun& run, const Golden& golden, const std::string& optimizer,
                                const OptimizerOptions& options) {
  run.steps(options);
  for (std::size_t i = 0; i < run.names().size(); ++i) {
    expect_golden(golden, optimizer + "/" + run.names()[i], run.weight(i));
  }
  for (std::size_t i = 0; i < run.buffer_names().size(); ++i) {
    expect_golden(golden, optimizer + "/" + run.buffer_names()[i], run.buffer(i));
  }
}

// GoogleTest's name of a file's tests: letters and digits alone.
inline std::string test_name_of_golden(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = file.param;
  std::erase(name, '-');
  return name;
}

inline const std::map<std::string, OptimizerKind> kGoldenOptimizers{
    {"sgd", OptimizerKind::kSgd}, {"adam", OptimizerKind::kAdam}, {"adamw", OptimizerKind::kAdamW}};

}  // namespace tandem::test
