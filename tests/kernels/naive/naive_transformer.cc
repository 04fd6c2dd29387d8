// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/naive/naive_transformer.h"

#include <vector>

#include "common/kernels/operands.h"
#include "tests/kernels/naive/naive.h"

namespace tandem {

void naive(const EmbeddingForward& op) {
  naive_loops::embedding_forward(op.shape, op.ids.data(), op.tokens.data(), op.places.data(),
                                 op.y.data());
}

void naive(const EmbeddingBackward& op) {
  naive_loops::embedding_backward_tokens(op.shape, op.ids.data(), op.dy.data(), op.dtokens.data());
  naive_loops::embedding_backward_places(op.shape, op.dy.data(), op.dplaces.data());
}

void naive(const LayerNormForward& op) {
  for (std::int64_t i = 0; i < op.branch.size(); ++i) {
    op.sum.data()[i] = op.x.data()[i] + element(op.branch, i);
  }
  std::vector<float> y = widened(op.y);
  naive_loops::layer_norm_forward(op.shape,
                                  {.sum = op.branch.empty() ? op.x.data() : op.sum.data(),
                                   .gain = op.gain.data(),
                                   .bias = op.bias.data(),
                                   .y = y.data(),
                                   .mean = op.mean.data(),
                                   .rstd = op.rstd.data()},
                                  op.epsilon);
  store(y, op.y);
}

void naive(const LayerNormBackward& op) {
  const std::vector<float> dy = widened(op.dy);
  const naive_loops::NormBackwardArrays arrays{.dy = dy.data(),
                                               .sum = op.sum.data(),
                                               .gain = op.gain.data(),
                                               .mean = op.mean.data(),
                                               .rstd = op.rstd.data(),
                                               .dabove = data_or_null(op.dabove),
                                               .dsum = op.dsum.data(),
                                               .dgain = op.dgain.data(),
                                               .dbias = op.dbias.data()};
  naive_loops::layer_norm_backward_input(op.shape, arrays);
  naive_loops::layer_norm_backward_parameters(op.shape, arrays);
  for (std::int64_t i = 0; i < op.dbranch.size(); ++i) {
    set_element(op.dbranch, i, op.dsum.data()[i]);
  }
}

void naive(const AttentionForward& op) {
  std::vector<float> y = widened(op.y);
  naive_loops::attention_forward(op.shape, widened(op.qkv).data(), y.data(), op.log_sums.data());
  store(y, op.y);
}

void naive(const AttentionBackward& op) {
  const std::vector<float> qkv = widened(op.qkv);
  const std::vector<float> y = widened(op.y);
  const std::vector<float> dy = widened(op.dy);
  std::vector<double> dqkv(qkv.size());
  naive_loops::attention_backward(op.shape, {.qkv = qkv.data(),
                                             .y = y.data(),
                                             .dy = dy.data(),
                                             .log_sums = op.log_sums.data(),
                                             .dqkv = dqkv.data()});
  store({dqkv.begin(), dqkv.end()}, op.dqkv);
}

}  // namespace tandem
