// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>

#include "common/kernels/cuda/attention_graph.h"
#include "common/kernels/cuda/cudnn_session.h"
#include "common/kernels/cuda/fused_attention.h"
#include "common/kernels/cuda/growing_memory.h"

namespace tandem::cuda {

// cuDNN's fused attention, of bf16: its engines take 16-bit types only. Plans of a shape are made
// when forward first meets it, both or none.
class CudnnAttention final : public FusedAttention {
 public:
  // A failure where cuDNN cannot start on the GPU. `cudnn` outlives this.
  CudnnAttention(CudaDevice& device, const LoadedCudnn& cudnn);

  [[nodiscard]] bool enqueue(Stream& stream, const AttentionForward& op) override;
  [[nodiscard]] bool enqueue(Stream& stream, const AttentionBackward& op) override;
  [[nodiscard]] std::string means() const override;

 private:
  struct Plans {
    std::optional<CudnnPlan> forward;
    std::optional<CudnnPlan> backward;
    std::string trouble;  // where they are not there
  };

  [[nodiscard]] Plans make_plans(const AttentionShape& shape);
  // Null where it has none for such operands.
  [[nodiscard]] const Plans* plans_for(const AttentionShape& shape, std::string_view of_operands);
  [[nodiscard]] ByteSpan memory_for(const Plans& plans, const AttentionShape& shape);

  const LoadedCudnn& cudnn_;
  Gpu& gpu_;
  GrowingMemory memory_;  // both plans' workspace, behind the row sums of backward
  CudnnSession session_;
  std::map<AttentionShape, Plans> plans_;
  std::string_view trouble_;  // of the latest; of a shape, or said of all
};

}  // namespace tandem::cuda
