// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/layer_norm.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"

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

// The gradients of gain and bias, in two stages.
template <class T>
cudaError_t sum_norm_gradients(cudaStream_t stream, const LayerNormBackward& op,
                               FloatPair* partials) {
  const auto& [rows, width] = op.shape;
  const Stretches stretches{rows, {width, 1}, ceil_div(rows, norm_parts(rows, width))};
  const cudaError_t status = for_each(stream, stretches.parts() * width,
                                      NormGradientParts<T>{.dy = as<T>(op.dy.data()),
                                                           .sum = op.sum.data(),
                                                           .mean = op.mean.data(),
                                                           .rstd = op.rstd.data(),
                                                           .partials = partials,
                                                           .stretches = stretches});
  if (status != cudaSuccess) return status;
  return for_each_row(stream, width,
                      NormGradientSums{{.partials = partials,
                                        .parts = stretches.parts(),
                                        .channels = width,
                                        .rstd = nullptr,
                                        .dgain = op.dgain.data(),
                                        .dbias = op.dbias.data()}});
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const LayerNormForward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) { return forward_rows<T>(stream, op); });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const LayerNormBackward& op) {
  auto* const partials = reinterpret_cast<FloatPair*>(sums_.bytes().data());
  return with_type(op.dy.dtype(), [&]<class T>(T) {
    const cudaError_t status = sum_norm_gradients<T>(stream, op, partials);
    return status == cudaSuccess ? backward_rows<T>(stream, op) : status;
  });
}

}  // namespace tandem::cuda
