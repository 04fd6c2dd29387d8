// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/model/gpt2_shape.h"
#include "common/model/passes.h"
#include "common/model/parameter_layout.h"

namespace tandem {

// The tensors that torch keeps between forward and backward, and no more: of each block the two
// residual sums with their statistics, the input of each product, and the input of GELU. A layer's
// addition to the residual stream is not kept, so that all layers share one buffer. In backward the
// gradient of the residual stream is updated in place, and two buffers take turns for gradients
// between the layers, as torch's caching allocator hands buffers out. The logits' gradient is
// written over the logits.
//
// `type` below is the type in which the layers compute. The residual stream, statistics and the
// logits given to the loss are fp32.
class Gpt2Activations final : public Activations {
 public:
  // The tensors of a norm, with the residual stream at the norm.
  struct Norm {
    Span<float> sum;  // (rows, width)
    AnySpan y;        // (rows, width), type
    Span<float> mean;
    Span<float> rstd;
  };

  struct Block {
    AnySpan qkv;           // (rows, 3 width), type
    AnySpan attended;      // (rows, width), type
    Span<float> log_sums;  // (batch, heads, sequence)
    AnySpan before;        // (rows, hidden), type: GELU's input
    AnySpan hidden;        // (rows, hidden), type: GELU's result
  };

  Gpt2Activations(Device& device, const Gpt2Shape& shape, const ParameterLayout& layout,
                  std::int64_t batch, Precision precision);

  [[nodiscard]] Span<float> output() override { return output_; }
  [[nodiscard]] Span<float> output_gradient() override { return output_; }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const Norm& norm(std::int64_t index) const {
    return norms_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Block& block(std::int64_t index) const {
    return blocks_.at(static_cast<std::size_t>(index));
  }

  // The logits as the head makes them, and their gradient as the head takes it: output() itself in
  // fp32. Each row may have padding behind it.
  [[nodiscard]] AnySpan logits() const { return logits_; }
  [[nodiscard]] std::int64_t padding() const { return padding_; }

  // (rows, width), type: in forward the tensor to be added to the residual stream; in backward, in
  // the same memory, the gradient of the result of a norm or of the attention.
  [[nodiscard]] AnySpan branch() const { return shared_; }
  [[nodiscard]] AnySpan input_gradient() const { return shared_; }
  // (rows, hidden) and (rows, 3 width), type: gradients within a block, in the same memory.
  [[nodiscard]] AnySpan hidden_gradient() const { return wide_; }
  [[nodiscard]] AnySpan qkv_gradient() const { return wide_.subspan(0, rows_ * 3 * width_); }
  // (rows, width): the gradient of the residual stream, and its copy in the layers' type; both are
  // the same memory in fp32.
  [[nodiscard]] Span<float> stream_gradient() const { return stream_gradient_; }
  [[nodiscard]] AnySpan branch_gradient() const { return branch_gradient_; }

  // The narrow copies; null where the layers compute on the parameters themselves.
  [[nodiscard]] ParameterCopies* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  void add_norms(std::int64_t count);
  void add_blocks(const Gpt2Shape& shape);
  void add_shared(const Gpt2Shape& shape);

  const std::int64_t batch_;
  const std::int64_t rows_;
  const std::int64_t width_;
  const DType type_;
  const std::int64_t padding_;  // elements, behind each row of logits
  OwnedTensors tensors_;
  std::vector<Norm> norms_;
  std::vector<Block> blocks_;
  Span<float> output_;
  AnySpan logits_;
  AnySpan shared_;
  AnySpan wide_;
  Span<float> stream_gradient_;
  AnySpan branch_gradient_;
  std::optional<ParameterCopies> copies_;
};

}  // namespace tandem
