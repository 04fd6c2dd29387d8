// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"

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
}  // namespace tandem
