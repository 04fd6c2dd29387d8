// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/model/passes.h"

namespace tandem {

// Bottleneck blocks of one resolution: all blocks but the first keep the resolution.
struct ResNetStage {
  std::int64_t blocks = 0;
  std::int64_t width = 0;  // channels of the 3 x 3 convolutions; blocks give out four times as many
  std::int64_t stride = 1;  // stride of the first block
};

// A residual network of bottleneck blocks (He, Zhang, Ren and Sun, "Deep residual learning for
// image recognition", 2016) by its sizes. Images are square, of three channels.
struct ResNetSizes {
  std::int64_t image = 0;  // height and width
  std::int64_t classes = 0;
  std::int64_t stem = 0;  // channels of the first convolution, 7 x 7 with stride 2
  std::vector<ResNetStage> stages{};
};

// A convolution and the normalisation behind it. The parameters of both are registered in a row:
// the convolution's weight, the norm's weight and bias; so are the norm's buffers running_mean,
// running_var and num_batches_tracked.
struct ResNetUnit {
  std::string convolution{};  // name of the module
  std::string norm{};
  ConvolutionShape shape;  // shape of one sample
  int index = 0;           // index among all units

  static constexpr int kSegments = 3;

  [[nodiscard]] int weight() const { return kSegments * index; }
  [[nodiscard]] int gain() const { return kSegments * index + 1; }
  [[nodiscard]] int bias() const { return kSegments * index + 2; }
  [[nodiscard]] std::size_t running_mean() const { return buffer(0); }
  [[nodiscard]] std::size_t running_variance() const { return buffer(1); }
  [[nodiscard]] std::size_t batches() const { return buffer(2); }

  [[nodiscard]] ConvolutionShape convolution_shape(std::int64_t samples) const {
    ConvolutionShape whole = shape;
    whole.batch = samples;
    return whole;
  }
  [[nodiscard]] BatchNormShape norm_shape(std::int64_t samples) const {
    const std::int64_t positions = shape.out_height() * shape.out_width();
    return {samples * positions, shape.out, positions};
  }

 private:
  [[nodiscard]] std::size_t buffer(int which) const {
    return static_cast<std::size_t>(kSegments * index + which);
  }
};

// The units of a block: 1 x 1, 3 x 3 with the block's stride, 1 x 1, and where the block changes
// the shape, the 1 x 1 that converts the block's input.
struct ResNetBlock {
  static constexpr int kNone = -1;

  int reduce = 0;
  int spatial = 0;
  int expand = 0;
  int downsample = kNone;

  [[nodiscard]] bool has_downsample() const { return downsample != kNone; }
};

// The layers of a ResNet, in the order of registration, which is torchvision's (v1.5: the stride
// lies in the 3 x 3).
class ResNetPlan {
 public:
  explicit ResNetPlan(const ResNetSizes& sizes);

  [[nodiscard]] const std::vector<ResNetUnit>& units() const { return units_; }
  [[nodiscard]] const ResNetUnit& unit(int index) const {
    return units_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const ResNetUnit& stem() const { return units_.front(); }
  [[nodiscard]] const std::vector<ResNetBlock>& blocks() const { return blocks_; }
  [[nodiscard]] std::int64_t stages() const { return stages_; }

  // The pool behind the stem, the pool in front of the head, and the head. The weight and bias of
  // the head, fc, are the last segments.
  [[nodiscard]] MaxPoolShape max_pool(std::int64_t samples) const;
  [[nodiscard]] AveragePoolShape average_pool(std::int64_t samples) const;
  [[nodiscard]] LinearShape head(std::int64_t samples) const;
  [[nodiscard]] int head_weight() const {
    return ResNetUnit::kSegments * static_cast<int>(units_.size());
  }
  [[nodiscard]] int head_bias() const { return head_weight() + 1; }

 private:
  // The size and channels of the next unit's input.
  struct Cursor {
    std::int64_t size = 0;  // height and width
    std::int64_t channels = 0;
  };

  int add_unit(const std::string& convolution, const std::string& norm, ConvolutionShape shape);
  void add_block(const std::string& name, const ResNetStage& stage, std::int64_t stride);

  const std::int64_t classes_;
  const std::int64_t stages_;
  Cursor at_;
  std::vector<ResNetUnit> units_;
  std::vector<ResNetBlock> blocks_;
};

// The tensors that torch keeps between forward and backward where its ReLUs and additions are in
// place, and no more: of each unit the results of the convolution and of the norm, and the norm's
// statistics. A downsample's addition is not kept, so that all downsamples share one buffer. In
// backward three buffers take turns. The logits' gradient is written over the logits.
//
// `type` below is the type in which the layers compute. Statistics are fp32.
class ResNetActivations final : public Activations {
 public:
  struct Unit {
    AnySpan before;   // (batch, out height, out width, out), type: the convolution's result
    AnySpan after{};  // as before: the result of the norm and all operations fused behind the norm
    Span<float> mean;
    Span<float> rstd;
  };

  ResNetActivations(Device& device, const ResNetPlan& plan, const ParameterLayout& layout,
                    std::int64_t batch, Precision precision, OutputType output_type);

  [[nodiscard]] AnySpan output() override { return output_; }
  [[nodiscard]] AnySpan output_gradient() override { return output_; }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const Unit& unit(int index) const {
    return units_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] AnySpan pooled() const { return pooled_; }      // the stem's result
  [[nodiscard]] AnySpan features() const { return features_; }  // (batch, channels): the head's x
  [[nodiscard]] AnySpan features_gradient() const { return features_gradient_; }
  // The logits as the head makes them, and their gradient as the head takes it, type: output()
  // itself where that is of this type.
  [[nodiscard]] AnySpan logits() const { return logits_; }

  // One of backward's buffers, as large as the largest activation.
  static constexpr std::size_t kGradients = 3;
  [[nodiscard]] AnySpan gradient(std::size_t index, std::int64_t count) const {
    return gradients_.at(index).subspan(0, count);
  }

  // The layers' copy of the input, which forward makes; empty where layers take the input itself.
  [[nodiscard]] AnySpan input() const { return input_; }
  // The narrow copies; null where the layers compute on the parameters themselves.
  [[nodiscard]] ParameterCopies* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  void add_units(const ResNetPlan& plan);
  void add_ends(const ResNetPlan& plan, OutputType output_type);

  const std::int64_t batch_;
  const DType type_;
  OwnedTensors tensors_;
  std::vector<Unit> units_;
  AnySpan pooled_;
  AnySpan features_;
  AnySpan features_gradient_;
  AnySpan logits_;
  AnySpan output_;
  std::array<AnySpan, kGradients> gradients_;
  AnySpan input_;
  std::optional<ParameterCopies> copies_;
};

}  // namespace tandem
