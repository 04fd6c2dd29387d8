// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/attention_graph.h"

#include "common/kernels/cuda/cudnn_graph_builder.h"

namespace tandem::cuda {
namespace {

using Sizes = CudnnGraphBuilder::Sizes;
using Tensor = CudnnGraphBuilder::Tensor;

constexpr cudnnDataType_t kNarrow = CUDNN_DATA_BFLOAT16;

// Sizes are (batch, heads, rows, columns) of whatever lies next to what in memory.
struct Sides {
  explicit Sides(const AttentionShape& s)
      : tokens{s.batch, s.heads, s.positions, s.head_width},
        turned_tokens{s.batch, s.heads, s.head_width, s.positions},
        scores{s.batch, s.heads, s.positions, s.positions},
        rows{s.batch, s.heads, s.positions, 1},
        packed{3 * s.positions * s.width(), s.head_width, 3 * s.width(), 1},
        turned_packed{packed[0], packed[1], packed[3], packed[2]},
        result{s.positions * s.width(), s.head_width, s.width(), 1},
        turned_scores{s.heads * s.positions * s.positions, s.positions * s.positions, 1,
                      s.positions} {}

  Sizes tokens, turned_tokens, scores, rows;
  Sizes packed, turned_packed, result, turned_scores;  // strides
};

// The scores of all pairs of positions, scaled.
Tensor scores_of(CudnnGraphBuilder& to, const Sides& s, Tensor query, Tensor turned_key,
                 Tensor scale) {
  Tensor products = to.product(query, turned_key, s.scores);
  return to.pointwise(CUDNN_POINTWISE_MUL, products, scale, s.scores);
}

// Of rows of scores, in bf16.
Tensor softmax(CudnnGraphBuilder& to, const Sides& s, Tensor scores) {
  Tensor most = to.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, s.rows);
  Tensor below = to.pointwise(CUDNN_POINTWISE_SUB, scores, most, s.scores);
  Tensor powers = to.pointwise(CUDNN_POINTWISE_EXP, below, s.scores);
  Tensor sums = to.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, s.rows);
  Tensor logs = to.pointwise(CUDNN_POINTWISE_LOG, sums, s.rows);
  to.pointwise_to(CUDNN_POINTWISE_ADD, most, logs, to.operand(kLogSums, CUDNN_DATA_FLOAT, s.rows));
  Tensor probabilities = to.between(kNarrow, s.scores);
  to.pointwise_to(CUDNN_POINTWISE_DIV, powers, sums, probabilities);
  return probabilities;
}

// p^T . b, as a gradient in the packed ones.
void turned_product(CudnnGraphBuilder& to, const Sides& s, Tensor p, Tensor b,
                    AttentionOperand gradient) {
  Tensor turned = to.between(kNarrow, s.scores, s.turned_scores);
  to.reshape_to(p, turned);
  to.product_to(turned, b, to.operand(gradient, kNarrow, s.tokens, s.packed));
}

// For each row of y the sum of dy y, which goes by memory, as cuDNN's engines want it.
Tensor row_sums(CudnnGraphBuilder& to, const Sides& s, Tensor dy) {
  Tensor y = to.operand(kOutput, kNarrow, s.tokens, s.result);
  Tensor both = to.pointwise(CUDNN_POINTWISE_MUL, dy, y, s.tokens);
  Tensor sums = to.reduce(CUDNN_REDUCE_TENSOR_ADD, both, s.rows);
  Tensor kept = to.operand(kRowSums, CUDNN_DATA_FLOAT, s.rows);
  to.pointwise_to(CUDNN_POINTWISE_MUL, sums, to.number(kOne), kept);
  return kept;
}

}  // namespace

CudnnGraph attention_forward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                   const AttentionShape& shape) {
  CudnnGraph graph(api);
  CudnnGraphBuilder to(api, graph);
  const Sides s(shape);
  Tensor query = to.operand(kQuery, kNarrow, s.tokens, s.packed);
  Tensor key = to.operand(kKey, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor scores = scores_of(to, s, query, key, to.number(kScale));
  Tensor seen = to.lower_triangle(scores, to.number(kMasked), s.scores);
  Tensor probabilities = softmax(to, s, seen);
  Tensor value = to.operand(kValue, kNarrow, s.tokens, s.packed);
  to.product_to(probabilities, value, to.operand(kOutput, kNarrow, s.tokens, s.result));
  graph.finish(handle);
  return graph;
}

CudnnGraph attention_backward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                    const AttentionShape& shape) {
  CudnnGraph graph(api);
  CudnnGraphBuilder to(api, graph);
  const Sides s(shape);
  Tensor query = to.operand(kQuery, kNarrow, s.tokens, s.packed);
  Tensor key = to.operand(kKey, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor value = to.operand(kValue, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor dy = to.operand(kOutputGradient, kNarrow, s.tokens, s.result);
  Tensor scale = to.number(kScale);
  Tensor sums = row_sums(to, s, dy);

  Tensor scores = scores_of(to, s, query, key, scale);
  Tensor log_sums = to.operand(kLogSums, CUDNN_DATA_FLOAT, s.rows);
  Tensor logs = to.pointwise(CUDNN_POINTWISE_SUB, scores, log_sums, s.scores);
  Tensor seen = to.lower_triangle(logs, to.number(kMasked), s.scores);
  Tensor probabilities = to.pointwise(CUDNN_POINTWISE_EXP, seen, s.scores);
  turned_product(to, s, probabilities, dy, kValueGradient);

  Tensor dp = to.product(dy, value, s.scores);
  Tensor apart = to.pointwise(CUDNN_POINTWISE_SUB, dp, sums, s.scores);
  Tensor slopes = to.pointwise(CUDNN_POINTWISE_MUL, apart, probabilities, s.scores);
  Tensor ds = to.pointwise(CUDNN_POINTWISE_MUL, slopes, scale, s.scores);
  turned_product(to, s, ds, query, kKeyGradient);
  Tensor upright_key = to.between(kNarrow, s.tokens, s.packed);
  to.reshape_to(key, upright_key);
  to.product_to(ds, upright_key, to.operand(kQueryGradient, kNarrow, s.tokens, s.packed));
  graph.finish(handle);
  return graph;
}

}  // namespace tandem::cuda
