// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/scale.h"

#include "common/comm/nccl/scale_kernel.h"
#include "common/runtime/cuda/check.h"

namespace tandem::nccl {
namespace {

cudaError_t launch(AnySpan values, float factor, cudaStream_t stream) {
  switch (values.dtype()) {
    case DType::kFloat32:
      return scale_fp32(values.data(), values.size(), factor, stream);
    case DType::kBFloat16:
      return scale_bf16(values.data(), values.size(), factor, stream);
    case DType::kFloat16:
      return scale_fp16(values.data(), values.size(), factor, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

void scale_in_place(cuda::CudaStream& stream, AnySpan values, float factor) {
  const cuda::DeviceGuard here(stream.gpu().ordinal());
  stream.gpu().after_enqueue(launch(values, factor, stream.get()), "scale");
}

}  // namespace tandem::nccl
