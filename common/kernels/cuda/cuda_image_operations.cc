// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_image_operations.h"

#include "common/kernels/cuda/batch_norm.h"
#include "common/kernels/cuda/cuda_images.h"
#include "common/kernels/cuda/element_type.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/pool_elements.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/image_operands.h"

namespace tandem::cuda {

void CudaImageOperations::enqueue(Stream& stream, const ConvolutionForward& op) {
  convolutions_.enqueue(stream, op);
}
void CudaImageOperations::enqueue(Stream& stream, const ConvolutionBackwardInput& op) {
  convolutions_.enqueue(stream, op);
}
void CudaImageOperations::enqueue(Stream& stream, const ConvolutionBackwardWeight& op) {
  convolutions_.enqueue(stream, op);
}

// Backward's memory is as large as forward's, which comes first.
template <class Op>
void CudaImageOperations::queue_batch_norm(Stream& stream, const char* name, const Op& op) {
  check_sizes(op);
  const ByteSpan scratch = sums_.at_least(batch_norm_scratch(op.shape));
  queue(stream, name, op, scratch,
        [&](cudaStream_t on) { return enqueue_batch_norm(on, scratch, op); });
}

void CudaImageOperations::enqueue(Stream& stream, const BatchNormForward& op) {
  queue_batch_norm(stream, "batch_norm_forward", op);
}
void CudaImageOperations::enqueue(Stream& stream, const BatchNormBackward& op) {
  queue_batch_norm(stream, "batch_norm_backward", op);
}

void CudaImageOperations::enqueue(Stream& stream, const MaxPoolForward& op) {
  queue(stream, "max_pool_forward", op, [&](cudaStream_t on) {
    return with_type(op.x.dtype(), [&]<class T>(T) {
      return for_each(on, op.y.size(),
                      MaxPoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()), op.shape});
    });
  });
}

void CudaImageOperations::enqueue(Stream& stream, const MaxPoolBackward& op) {
  queue(stream, "max_pool_backward", op, [&](cudaStream_t on) {
    return with_type(op.x.dtype(), [&]<class T>(T) {
      return for_each(on, op.dx.size(),
                      MaxPoolBackwardElements<T>{.x = as<T>(op.x.data()),
                                                 .y = as<T>(op.y.data()),
                                                 .dy = as<T>(op.dy.data()),
                                                 .dabove = as<T>(data_or_null(op.dabove)),
                                                 .dx = as<T>(op.dx.data()),
                                                 .shape = op.shape});
    });
  });
}

void CudaImageOperations::enqueue(Stream& stream, const AveragePoolForward& op) {
  queue(stream, "average_pool_forward", op, [&](cudaStream_t on) {
    return with_type(op.x.dtype(), [&]<class T>(T) {
      return for_each(
          on, op.y.size(),
          AveragePoolForwardElements<T>{as<T>(op.x.data()), as<T>(op.y.data()), op.shape});
    });
  });
}

void CudaImageOperations::enqueue(Stream& stream, const AveragePoolBackward& op) {
  queue(stream, "average_pool_backward", op, [&](cudaStream_t on) {
    return with_type(op.dy.dtype(), [&]<class T>(T) {
      return for_each(
          on, op.dx.size(),
          AveragePoolBackwardElements<T>{as<T>(op.dy.data()), as<T>(op.dx.data()), op.shape});
    });
  });
}

std::string lack_of_cuda_images() {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api != nullptr) return "";
  return "on GPUs convolutions are cuDNN's, and " + cudnn.trouble;
}

std::string cuda_image_library_version() {
  const LoadedCudnn& cudnn = load_cudnn();
  return cudnn.api == nullptr ? "" : "cuDNN " + cudnn.version;
}

std::unique_ptr<ImageOperations> make_cuda_images(CudaDevice& device, Precision precision) {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api == nullptr) return nullptr;
  return std::make_unique<CudaImageOperations>(device, precision, *cudnn.api);
}

}  // namespace tandem::cuda
