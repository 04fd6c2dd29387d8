// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/kernels/attention.h"
#include "common/kernels/cuda/cudnn_session.h"

namespace tandem::cuda {

struct AttentionPlans {
  CudnnPlan forward;
  CudnnPlan backward;
};

// cuDNN's fused engines for causal attention in bf16, both passes or none. Where they want too much
// workspace for a whole batch, they run on slices of it: no sample needs another.
struct AttentionChoice {
  std::int64_t slice = 0;                 // samples at a time
  std::string trouble{};                  // why there are no plans
  std::optional<AttentionPlans> plans{};  // of a slice
  std::optional<AttentionPlans> rest{};   // of the last slice, where it has fewer samples
  Bytes workspace{};                      // the most that any of them wants
};

// The plans of a shape, on operands that lie as AttentionForward's and AttentionBackward's, at
// multiples of 16 bytes. Engines that give other bits from one run to the next are not taken.
[[nodiscard]] AttentionChoice choose_attention(const LoadedCudnn& cudnn, cudnnHandle_t handle,
                                               const AttentionShape& shape);

}  // namespace tandem::cuda
