// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/element_type.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/pool_elements.h"
#include "common/kernels/operands.h"

namespace tandem::cuda {

cudaError_t CudaOperations::launch(cudaStream_t stream, const MaxPoolForward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    MaxPoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()), op.shape});
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
                                               .shape = op.shape});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AveragePoolForward& op) {
  return with_type(op.x.dtype(), [&]<class T>(T) {
    return for_each(
        stream, op.y.size(),
        AveragePoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()), op.shape});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AveragePoolBackward& op) {
  return with_type(op.dy.dtype(), [&]<class T>(T) {
    return for_each(
        stream, op.dx.size(),
        AveragePoolBackwardElements<T>{as<T>(op.dy.data()), as<T>(op.dx.data()), op.shape});
  });
}

}  // namespace tandem::cuda
