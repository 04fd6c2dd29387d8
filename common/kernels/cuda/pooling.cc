// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/pooling.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

Images given(const MaxPoolShape& s, const ImageOptions& how) {
  return {s.height, s.width, s.channels, how.channels_last};
}

Images pooled(const MaxPoolShape& s, const ImageOptions& how) {
  return {s.out_height(), s.out_width(), s.channels, how.channels_last};
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const MaxPoolForward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    MaxPoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()),
                                              given(op.shape, images_), pooled(op.shape, images_)});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const MaxPoolBackward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return for_each(stream, op.dx.size(),
                    MaxPoolBackwardElements<T>{.x = as<T>(op.x.data()),
                                               .y = as<T>(op.y.data()),
                                               .dy = as<T>(op.dy.data()),
                                               .dabove = as<T>(data_or_null(op.dabove)),
                                               .dx = as<T>(op.dx.data()),
                                               .of = given(op.shape, images_),
                                               .pooled = pooled(op.shape, images_)});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AveragePoolForward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    AveragePoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()), op.shape,
                                                  images_.channels_last});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AveragePoolBackward& op) {
  return with_type(op.dy.dtype(), [&]<class T>(T) {
    return for_each(stream, op.dx.size(),
                    AveragePoolBackwardElements<T>{as<T>(op.dy.data()), as<T>(op.dx.data()),
                                                   op.shape, images_.channels_last});
  });
}

}  // namespace tandem::cuda
