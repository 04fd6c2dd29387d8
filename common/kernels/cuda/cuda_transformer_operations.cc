// SPDX-License-Identifier: Apache-2.0
//
// What a transformer needs beside linear layers and a loss.
#include "common/kernels/cuda/attention.h"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/element_type.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/cuda/row_functions.h"
#include "common/kernels/cuda/transformer_elements.h"

namespace tandem::cuda {
namespace {

template <class T>
cudaError_t forward_rows(cudaStream_t stream, const LayerNormForward& op) {
  return for_each_row(stream, op.shape.rows,
                      NormForwardRows<T>{.x = op.x.data(),
                                         .branch = as<T>(data_or_null(op.branch)),
                                         .gain = op.gain.data(),
                                         .offset = op.bias.data(),
                                         .sum = data_or_null(op.sum),
                                         .y = as<T>(op.y.data()),
                                         .mean = op.mean.data(),
                                         .rstd = op.rstd.data(),
                                         .width = op.shape.width,
                                         .epsilon = op.epsilon});
}

template <class T>
cudaError_t backward_rows(cudaStream_t stream, const LayerNormBackward& op) {
  return for_each_row(stream, op.shape.rows,
                      NormBackwardRows<T>{.dy = as<T>(op.dy.data()),
                                          .sum = op.sum.data(),
                                          .gain = op.gain.data(),
                                          .mean = op.mean.data(),
                                          .rstd = op.rstd.data(),
                                          .dabove = data_or_null(op.dabove),
                                          .dsum = op.dsum.data(),
                                          .dbranch = as<T>(data_or_null(op.dbranch)),
                                          .width = op.shape.width});
}

// The gradients of gain and bias, in two stages. `partials`: of partials_size().
template <class T>
cudaError_t sum_norm_gradients(cudaStream_t stream, const LayerNormBackward& op,
                               FloatPair* partials) {
  const auto& [rows, width] = op.shape;
  const std::int64_t parts = norm_parts(rows);
  const cudaError_t status = for_each(stream, parts * width,
                                      NormGradientParts<T>{.dy = as<T>(op.dy.data()),
                                                           .sum = op.sum.data(),
                                                           .mean = op.mean.data(),
                                                           .rstd = op.rstd.data(),
                                                           .partials = partials,
                                                           .rows = rows,
                                                           .columns = width,
                                                           .rows_of_part = ceil_div(rows, parts)});
  if (status != cudaSuccess) return status;
  return for_each(stream, width,
                  NormGradientSums{.partials = partials,
                                   .dgain = op.dgain.data(),
                                   .dbias = op.dbias.data(),
                                   .parts = parts,
                                   .columns = width});
}

Bytes partials_size(const NormShape& shape) {
  return Bytes{norm_parts(shape.rows) * shape.width * static_cast<std::int64_t>(sizeof(FloatPair))};
}

}  // namespace

void CudaOperations::enqueue(Stream& stream, const GeluBackward& op) {
  queue(stream, "gelu_backward", op, [&](cudaStream_t on) {
    return with_type(op.before.dtype(), [&]<class T>(T) {
      return for_each(on, op.before.size(),
                      GeluBackwardElements<T>{as<T>(op.before.data()), as<T>(op.dy.data())});
    });
  });
}

void CudaOperations::enqueue(Stream& stream, const EmbeddingForward& op) {
  queue(stream, "embedding_forward", op, [&](cudaStream_t on) {
    return for_each(on, op.y.size(),
                    EmbeddingElements{.ids = op.ids.data(),
                                      .tokens = op.tokens.data(),
                                      .places = op.places.data(),
                                      .y = op.y.data(),
                                      .positions = op.shape.positions,
                                      .columns = op.shape.width});
  });
}

void CudaOperations::enqueue(Stream& stream, const EmbeddingBackward& op) {
  queue(stream, "embedding_backward", op, [&](cudaStream_t on) {
    const EmbeddingShape& shape = op.shape;
    const cudaError_t status =
        for_each(on, op.dplaces.size(),
                 PlaceGradientElements{.dy = op.dy.data(),
                                       .dplaces = op.dplaces.data(),
                                       .samples = shape.rows / shape.positions,
                                       .sample = op.dplaces.size()});
    if (status != cudaSuccess) return status;
    return for_each_row(on, shape.rows,
                        TokenGradientRows{.ids = op.ids.data(),
                                          .dy = op.dy.data(),
                                          .dtokens = op.dtokens.data(),
                                          .rows = shape.rows,
                                          .width = shape.width});
  });
}

// Takes backward's memory too: while backward runs, collectives of gradients may be in flight.
void CudaOperations::enqueue(Stream& stream, const LayerNormForward& op) {
  check_sizes(op);
  static_cast<void>(sums_of_rows_.at_least(partials_size(op.shape)));
  queue(stream, "layer_norm_forward", op, [&](cudaStream_t on) {
    return with_type(op.y.dtype(), [&]<class T>(T) { return forward_rows<T>(on, op); });
  });
}

void CudaOperations::enqueue(Stream& stream, const LayerNormBackward& op) {
  check_sizes(op);
  const ByteSpan partials = sums_of_rows_.at_least(partials_size(op.shape));
  queue(stream, "layer_norm_backward", op, partials, [&](cudaStream_t on) {
    return with_type(op.dy.dtype(), [&]<class T>(T) {
      const cudaError_t status =
          sum_norm_gradients<T>(on, op, reinterpret_cast<FloatPair*>(partials.data()));
      return status == cudaSuccess ? backward_rows<T>(on, op) : status;
    });
  });
}

void CudaOperations::enqueue(Stream& stream, const AttentionForward& op) {
  queue_attention(stream, "attention_forward", op);
}

void CudaOperations::enqueue(Stream& stream, const AttentionBackward& op) {
  queue_attention(stream, "attention_backward", op);
}

template <class Op>
void CudaOperations::queue_attention(Stream& stream, const char* name, const Op& op) {
  check_sizes(op);
  if (!fused_attention_) fused_attention_ = make_fused_attention(device_);
  if (fused_attention_->enqueue(stream, op)) return;
  const DType type = op.qkv.dtype();
  const ScoreTiles tiles = tiles_of(op.shape, type);
  const ByteSpan scratch = scores_.at_least(scratch_size(tiles, type));
  queue(stream, name, op, {scratch, workspace_}, [&](cudaStream_t on) {
    return enqueue_attention(on, products_, {tiles, scratch}, op);
  });
}

std::map<std::string, std::string> CudaOperations::implementations() const {
  if (!fused_attention_) return {};
  return {{"attention", fused_attention_->implementations()}};
}

}  // namespace tandem::cuda
