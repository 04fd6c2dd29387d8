// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/model/passes.h"

namespace tandem {

// A GPT-2 (Radford, Wu, Child, Luan, Amodei and Sutskever, "Language models are unsupervised
// multitask learners", 2019) by its sizes, and the shapes of its layers.
struct Gpt2Shape {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;       // a multiple of the heads
  std::int64_t vocabulary = 0;  // rows of the token table
  std::int64_t positions = 0;   // rows of the position table
  std::int64_t sequence = 0;    // tokens of a sample, at most `positions`

  // The width of the MLP's hidden layer.
  [[nodiscard]] constexpr std::int64_t hidden() const { return 4 * width; }

  // The number of rows that go through the layers.
  [[nodiscard]] constexpr std::int64_t rows(std::int64_t batch) const { return batch * sequence; }

  [[nodiscard]] constexpr EmbeddingShape embedding(std::int64_t batch) const {
    return {rows(batch), sequence, vocabulary, width};
  }
  [[nodiscard]] constexpr NormShape norm(std::int64_t batch) const { return {rows(batch), width}; }
  [[nodiscard]] constexpr AttentionShape attention(std::int64_t batch) const {
    return {batch, sequence, heads, width / heads};
  }
  // `padding`: columns of zeros behind the logits, of tokens beyond the table.
  [[nodiscard]] constexpr LinearShape head(std::int64_t batch, std::int64_t padding = 0) const {
    return {rows(batch), width, vocabulary + padding};
  }
};

// A LayerNorm's parameters by segment: `gain` is what torch calls weight.
struct NormSegments {
  int gain = 0;
  int bias = 0;
};

// The parameters in order of registration, which is that of the equivalent torch module: tables,
// blocks, final norm; in a block ln_1, attn.c_attn, attn.c_proj, ln_2, mlp.c_fc, mlp.c_proj, each
// with the weight and then the bias.
namespace gpt2 {

inline constexpr int kTokens = 0;
inline constexpr int kPositions = 1;
inline constexpr int kFirstBlock = 2;
inline constexpr int kPerBlock = 12;

// The linear layers of a block, in the order of its forward.
enum class Layer { kAttentionIn, kAttentionOut, kMlpIn, kMlpOut };
inline constexpr std::array kLayers{Layer::kAttentionIn, Layer::kAttentionOut, Layer::kMlpIn,
                                    Layer::kMlpOut};

[[nodiscard]] constexpr int first_of_block(std::int64_t block) {
  return kFirstBlock + static_cast<int>(block) * kPerBlock;
}

// The norms are numbered in a row: ln_1 and ln_2 of each block, then the final norm.
[[nodiscard]] constexpr NormSegments norm_segments(std::int64_t norm) {
  const int first = first_of_block(norm / 2) + (norm % 2 == 0 ? 0 : 6);
  return {first, first + 1};
}

[[nodiscard]] constexpr LinearSegments linear_segments(std::int64_t block, Layer layer) {
  constexpr std::array kOffsets = {2, 4, 8, 10};
  const int first = first_of_block(block) + kOffsets[static_cast<std::size_t>(layer)];
  return {first, first + 1};
}

// The shape of a product: rows in the batch, columns in, columns out.
[[nodiscard]] constexpr LinearShape linear_shape(const Gpt2Shape& shape, std::int64_t batch,
                                                 Layer layer) {
  const std::int64_t rows = shape.rows(batch);
  switch (layer) {
    case Layer::kAttentionIn:
      return {rows, shape.width, 3 * shape.width};
    case Layer::kAttentionOut:
      return {rows, shape.width, shape.width};
    case Layer::kMlpIn:
      return {rows, shape.width, shape.hidden()};
    case Layer::kMlpOut:
      return {rows, shape.hidden(), shape.width};
  }
  return {};
}

}  // namespace gpt2

// The tensors that torch keeps between forward and backward, and no more: of each block the two
// residual sums with their statistics, the input of each product, and the input of GELU. A layer's
// addition to the residual stream is not kept, so that all layers share one buffer. In backward the
// gradient of the residual stream is updated in place, and two buffers take turns for gradients
// between the layers, as torch's caching allocator hands buffers out. The logits' gradient is
// written over the logits.
//
// `type` below is the type in which the layers compute. The residual stream and statistics are
// fp32.
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
                  std::int64_t batch, Precision precision, OutputType output_type);

  [[nodiscard]] AnySpan output() override { return output_; }
  [[nodiscard]] AnySpan output_gradient() override { return output_; }
  [[nodiscard]] std::int64_t output_padding() const override { return padding_; }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const Norm& norm(std::int64_t index) const {
    return norms_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Block& block(std::int64_t index) const {
    return blocks_.at(static_cast<std::size_t>(index));
  }

  // The logits as the head makes them, and their gradient as the head takes it, type: output()
  // itself where that is of this type.
  [[nodiscard]] AnySpan logits() const { return logits_; }

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
  void add_shared(const Gpt2Shape& shape, OutputType output_type);

  const std::int64_t batch_;
  const std::int64_t rows_;
  const std::int64_t width_;
  const DType type_;
  const std::int64_t padding_;  // elements, behind each row of logits
  OwnedTensors tensors_;
  std::vector<Norm> norms_;
  std::vector<Block> blocks_;
  AnySpan logits_;
  AnySpan output_;
  AnySpan shared_;
  AnySpan wide_;
  Span<float> stream_gradient_;
  AnySpan branch_gradient_;
  std::optional<ParameterCopies> copies_;
};

}  // namespace tandem
