// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/batch_norm.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

static_assert(sizeof(Moments) == sizeof(FloatPair), "one scratch memory for both passes");

template <class T>
cudaError_t forward(cudaStream_t stream, Moments* partials, const Stretches& stretches,
                    const BatchNormForward& op) {
  const T* const x = as<T>(op.x.data());
  cudaError_t status = sum_stretches(stream, StretchSums<MomentTerms<T>>{{x, partials}, stretches});
  if (status != cudaSuccess) return status;
  status = for_each_row(stream, op.shape.channels,
                        BatchStatistics<T>{.x = x,
                                           .partials = partials,
                                           .stretches = stretches,
                                           .parts = stretches.parts(),
                                           .running_mean = op.running_mean.data(),
                                           .running_variance = op.running_variance.data(),
                                           .mean = op.mean.data(),
                                           .rstd = op.rstd.data(),
                                           .epsilon = op.epsilon,
                                           .momentum = op.momentum});
  if (status != cudaSuccess) return status;
  const Strides strides(stretches.channels, op.x.size());
  return for_each(stream, strides.apart,
                  BatchNormForwardElements<T>{.x = x,
                                              .residual = as<T>(data_or_null(op.residual)),
                                              .y = as<T>(op.y.data()),
                                              .gain = op.gain.data(),
                                              .bias = op.bias.data(),
                                              .mean = op.mean.data(),
                                              .rstd = op.rstd.data(),
                                              .channels = stretches.channels,
                                              .strides = strides,
                                              .relu = op.activation == Activation::kRelu});
}

// The place of y's gradient between the passes, if it is not dy: at the residual's, for which dx
// lends its place where nobody asks for it.
template <class T>
T* place_of_gradient(const BatchNormBackward& op) {
  T* const residual = as<T>(data_or_null(op.dresidual));
  if (op.dabove.empty() && op.y.empty())
    return residual == as<T>(op.dy.data()) ? nullptr : residual;
  return residual != nullptr ? residual : as<T>(op.dx.data());
}

template <class T>
cudaError_t backward(cudaStream_t stream, FloatPair* partials, const Stretches& stretches,
                     const BatchNormBackward& op) {
  T* const g = place_of_gradient<T>(op);
  const T* const dy = as<T>(op.dy.data());
  cudaError_t status =
      sum_stretches(stream, StretchSums<GradientTerms<T>>{{.x = as<T>(op.x.data()),
                                                           .dy = dy,
                                                           .dabove = as<T>(data_or_null(op.dabove)),
                                                           .y = as<T>(data_or_null(op.y)),
                                                           .g = g,
                                                           .mean = op.mean.data(),
                                                           .partials = partials},
                                                          stretches});
  if (status != cudaSuccess) return status;
  status = for_each_row(stream, op.shape.channels,
                        ParameterGradients{.partials = partials,
                                           .parts = stretches.parts(),
                                           .channels = op.shape.channels,
                                           .rstd = op.rstd.data(),
                                           .dgain = op.dgain.data(),
                                           .dbias = op.dbias.data()});
  if (status != cudaSuccess) return status;
  const Strides strides(stretches.channels, op.x.size());
  return for_each(
      stream, strides.apart,
      BatchNormBackwardElements<T>{.g = g != nullptr ? g : dy,
                                   .x = as<T>(op.x.data()),
                                   .dx = as<T>(op.dx.data()),
                                   .gain = op.gain.data(),
                                   .mean = op.mean.data(),
                                   .rstd = op.rstd.data(),
                                   .dgain = op.dgain.data(),
                                   .dbias = op.dbias.data(),
                                   .channels = stretches.channels,
                                   .strides = strides,
                                   .over_rows = 1.0F / static_cast<float>(op.shape.rows)});
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const BatchNormForward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return forward<T>(stream, reinterpret_cast<Moments*>(sums_.bytes().data()),
                      stretches_of(op.shape, images_), op);
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const BatchNormBackward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return backward<T>(stream, reinterpret_cast<FloatPair*>(sums_.bytes().data()),
                       stretches_of(op.shape, images_), op);
  });
}

}  // namespace tandem::cuda
