// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/layer_norm.cuh"

#include "common/base/rounding.h"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

template <class T>
cudaError_t forward(cudaStream_t stream, const LayerNormForward& op) {
  const auto& [rows, width] = op.shape;
  return for_each_row(stream, ceil_div(rows, kRowsAtOnce),
                      NormForwardRows<T>{.x = op.x.data(),
                                         .branch = as<T>(data_or_null(op.branch)),
                                         .gain = op.gain.data(),
                                         .offset = op.bias.data(),
                                         .sum = data_or_null(op.sum),
                                         .y = as<T>(op.y.data()),
                                         .mean = op.mean.data(),
                                         .rstd = op.rstd.data(),
                                         .rows = rows,
                                         .width = width,
                                         .epsilon = op.epsilon});
}

template <class T>
cudaError_t backward(cudaStream_t stream, const LayerNormBackward& op, FloatPair* partials) {
  const auto& [rows, width] = op.shape;
  const std::int64_t rows_each = norm_rows_each(rows);
  const std::int64_t stretches = ceil_div(rows, rows_each);
  const cudaError_t status =
      for_each_row(stream, stretches,
                   NormBackwardRows<T>{.dy = as<T>(op.dy.data()),
                                       .sum = op.sum.data(),
                                       .gain = op.gain.data(),
                                       .mean = op.mean.data(),
                                       .rstd = op.rstd.data(),
                                       .dabove = data_or_null(op.dabove),
                                       .dsum = op.dsum.data(),
                                       .dbranch = as<T>(data_or_null(op.dbranch)),
                                       .partials = partials,
                                       .rows = rows,
                                       .width = width,
                                       .rows_each = rows_each});
  if (status != cudaSuccess) return status;
  return for_each_row(stream, width,
                      NormGradientSums{{.partials = partials,
                                        .parts = stretches,
                                        .channels = width,
                                        .rstd = nullptr,
                                        .dgain = op.dgain.data(),
                                        .dbias = op.dbias.data()}});
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const LayerNormForward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) { return forward<T>(stream, op); });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const LayerNormBackward& op) {
  auto* const partials = reinterpret_cast<FloatPair*>(sums_.bytes().data());
  return with_type(op.dy.dtype(), [&]<class T>(T) { return backward<T>(stream, op, partials); });
}

}  // namespace tandem::cuda
