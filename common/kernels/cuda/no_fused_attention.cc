// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/fused_attention.h"

namespace tandem::cuda {

std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& /*device*/) {
  return std::make_unique<NoFusedAttention>("this build has no cuDNN");
}

}  // namespace tandem::cuda
