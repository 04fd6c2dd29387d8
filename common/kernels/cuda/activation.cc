// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/activation.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

cudaError_t CudaOperations::launch(cudaStream_t stream, const ReluBackward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    ReluBackwardElements<T>{as<T>(op.y.data()), as<T>(op.dy.data())});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const GeluBackward& op) {
  return with_type(op.before.dtype(), [&]<class T>(T) {
    return for_each(stream, op.before.size(),
                    GeluBackwardElements<T>{as<T>(op.before.data()), as<T>(op.dy.data())});
  });
}

}  // namespace tandem::cuda
