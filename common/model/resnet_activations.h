// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/model/passes.h"
#include "common/model/parameter_layout.h"
#include "common/model/resnet_plan.h"

namespace tandem {

// The tensors that torch keeps between forward and backward where its ReLUs and additions are in
// place, and no more: of each unit the results of the convolution and of the norm, and the norm's
// statistics. A downsample's addition is not kept, so that all downsamples share one buffer. In
// backward three buffers take turns. The logits' gradient is written over the logits.
//
// `type` below is the type in which the layers compute. Statistics and the logits given to the loss
// are fp32.
class ResNetActivations final : public Activations {
 public:
  struct Unit {
    AnySpan before;  // (batch, out height, out width, out), type: the convolution's result
    AnySpan after;   // as before: the result of the norm and all operations fused behind the norm
    Span<float> mean;
    Span<float> rstd;
  };

  ResNetActivations(Device& device, const ResNetPlan& plan, const ParameterLayout& layout,
                    std::int64_t batch, Precision precision);

  [[nodiscard]] Span<float> output() override { return output_; }
  [[nodiscard]] Span<float> output_gradient() override { return output_; }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const Unit& unit(int index) const {
    return units_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] AnySpan pooled() const { return pooled_; }      // the stem's result
  [[nodiscard]] AnySpan features() const { return features_; }  // (batch, channels): the head's x
  [[nodiscard]] AnySpan features_gradient() const { return features_gradient_; }
  // The logits as the head makes them, and their gradient as the head takes it: output() itself in
  // fp32.
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
  void add_ends(const ResNetPlan& plan);

  const std::int64_t batch_;
  const DType type_;
  OwnedTensors tensors_;
  std::vector<Unit> units_;
  AnySpan pooled_;
  AnySpan features_;
  AnySpan features_gradient_;
  Span<float> output_;
  AnySpan logits_;
  std::array<AnySpan, kGradients> gradients_;
  AnySpan input_;
  std::optional<ParameterCopies> copies_;
};

}  // namespace tandem
