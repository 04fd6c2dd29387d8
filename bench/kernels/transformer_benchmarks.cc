// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/transformer_benchmarks.h"

namespace tandem::bench {
namespace {

constexpr std::int64_t kWidth = 512;
constexpr std::int64_t kPositions = 128;
constexpr std::int64_t kClasses = 50257;  // GPT-2's vocabulary

// Whole numbers spread evenly from 0 to 3^9 - 1, below kClasses: numbers of nine digits, each 0, 1
// or 2.
Span<float> whole_numbers(DeviceBench& b, std::int64_t count) {
  const Span<float> numbers = b.random(count);
  const Span<float> digit = b.random(count);
  b.enqueue(Fill{.values = numbers, .constant = (19683.0F - 1) / 2});
  float place = 1;
  for (std::uint64_t i = 0; i < 9; ++i, place *= 3) {
    b.enqueue(FillRandom{
        .values = digit, .seed = i, .distribution = Distribution::kSmallIntegers, .scale = place});
    b.enqueue(Add{.a = numbers, .b = digit, .sum = numbers});
  }
  return numbers;
}

EmbeddingShape tokens_of(std::int64_t elements) {
  return {
      .rows = elements / kWidth, .positions = kPositions, .vocabulary = kClasses, .width = kWidth};
}

EmbeddingForward embedding_forward(DeviceBench& b, std::int64_t n) {
  return {.shape = tokens_of(n),
          .ids = whole_numbers(b, n / kWidth),
          .tokens = b.random(kClasses * kWidth),
          .places = b.random(kPositions * kWidth),
          .y = b.random(n)};
}

EmbeddingBackward embedding_backward(DeviceBench& b, std::int64_t n) {
  return {.shape = tokens_of(n),
          .ids = whole_numbers(b, n / kWidth),
          .dy = b.random(n),
          .dtokens = b.random(kClasses * kWidth),
          .dplaces = b.random(kPositions * kWidth)};
}

LayerNormForward norm_forward(DeviceBench& b, std::int64_t n) {
  return {.shape = {.rows = n / kWidth, .width = kWidth},
          .x = b.random(n),
          .branch = b.random(n, b.type()),
          .gain = b.random(kWidth),
          .bias = b.random(kWidth),
          .sum = b.random(n),
          .y = b.random(n, b.type()),
          .mean = b.random(n / kWidth),
          .rstd = b.random(n / kWidth)};
}

LayerNormBackward norm_backward(DeviceBench& b, std::int64_t n) {
  const bool is_wide = b.type() == DType::kFloat32;
  return {.shape = {.rows = n / kWidth, .width = kWidth},
          .dy = b.random(n, b.type()),
          .sum = b.random(n),
          .gain = b.random(kWidth),
          .mean = b.random(n / kWidth),
          .rstd = b.random(n / kWidth),
          .dabove = b.random(n),
          .dsum = b.random(n),
          .dbranch = b.random(is_wide ? 0 : n, b.type()),
          .dgain = b.random(kWidth),
          .dbias = b.random(kWidth)};
}

CrossEntropyLoss cross_entropy(DeviceBench& b, std::int64_t n) {
  return {.classes = kClasses,
          .prediction = b.random(n),
          .target = whole_numbers(b, n / kClasses),
          .gradient = b.random(n),
          .loss = b.random(1)};
}

CrossEntropyLossBackward cross_entropy_backward(DeviceBench& b, std::int64_t n) {
  return {.classes = kClasses,
          .prediction = b.random(n),
          .target = whole_numbers(b, n / kClasses),
          .loss_gradient = b.random(1),
          .gradient = b.random(n)};
}

AttentionForward attention_forward(DeviceBench& b, const AttentionShape& s) {
  return {.shape = s,
          .qkv = b.random(s.rows() * 3 * s.width(), b.type()),
          .y = b.random(s.rows() * s.width(), b.type()),
          .log_sums = b.random(s.rows() * s.heads)};
}

AttentionBackward attention_backward(DeviceBench& b, const AttentionShape& s) {
  const AttentionForward ahead = attention_forward(b, s);
  b.enqueue(ahead);
  return {.shape = s,
          .qkv = ahead.qkv,
          .y = ahead.y,
          .dy = b.random(s.rows() * s.width(), b.type()),
          .log_sums = ahead.log_sums,
          .dqkv = b.random(s.rows() * 3 * s.width(), b.type())};
}

}  // namespace

void register_transformer_operations(const OperationRegistry& registry) {
  const int narrow = static_cast<int>(size_of(registry.type()));
  const std::vector<std::int64_t> whole{1 << 16, 1 << 22, 3 << 23};  // numbers of samples
  registry.add_loop(Loop{"embedding_forward", 8, embedding_forward, whole});
  registry.add_loop(Loop{"embedding_backward", 12, embedding_backward, whole});
  registry.add_loop(Loop{"layer_norm_forward", 8 + 2 * narrow, norm_forward, whole});
  registry.add_loop(
      Loop{"layer_norm_backward", 12 + (narrow == 4 ? 4 : 2 * narrow), norm_backward, whole});
  const std::vector<std::int64_t> rows{4 * kClasses, 256 * kClasses};
  registry.add_loop(Loop{"cross_entropy_loss", 8, cross_entropy, rows});
  registry.add_loop(Loop{"cross_entropy_loss_backward", 8, cross_entropy_backward, rows});
  registry.add_attention("attention_forward", 1, attention_forward);
  registry.add_attention("attention_backward", 2, attention_backward);
}

}  // namespace tandem::bench
