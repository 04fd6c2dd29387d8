// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>

#include "common/kernels/cuda/cudnn_graph.h"
#include "common/kernels/cuda/cudnn_session.h"
#include "common/kernels/cuda/fused_attention.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operations.h"

namespace tandem::cuda {

// Causal attention as graphs of cuDNN's: plain operations on whole matrices of scores, in the
// pattern that its fused engines know, which never write those to memory. (The one operation that
// cuDNN has for all of it cannot mask before 9.20.) By head, with scale = 1 / sqrt(head_width):
//   forward    s = q k^T scale, masked; log_sums = max s + log sum exp(s - max s)
//              y = softmax(s) v
//   backward   p = exp(s - log_sums), masked; dp = dy v^T; ds = p (dp - sum(dy y)) scale
//              dv = p^T dy, dk = ds^T q, dq = ds k
// dq is one product, not a sum that blocks add to as they end: bits are the same every time.

// Ids of the graphs' operands: bf16 but for log_sums and row sums, which are fp32, and numbers.
enum AttentionOperand : std::int64_t {
  kQuery = 1,
  kKey,
  kValue,
  kOutput,
  kLogSums,
  kScale,   // by value
  kMasked,  // by value: the score of what is not seen
  kOne,     // by value
  kOutputGradient,
  kQueryGradient,
  kKeyGradient,
  kValueGradient,
  kRowSums,  // (batch, heads, positions): scratch memory of backward's
};

// On operands that lie as AttentionForward's and AttentionBackward's, at multiples of 16 bytes. The
// handle may be null where no plan is made. Throw CudnnError.
[[nodiscard]] CudnnGraph attention_forward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                                 const AttentionShape& shape);
[[nodiscard]] CudnnGraph attention_backward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                                  const AttentionShape& shape);

// cuDNN's fused attention, of bf16: its engines take 16-bit types only. Plans of a shape are made
// when forward first meets it, both or none.
class CudnnAttention final : public FusedAttention {
 public:
  // A failure where cuDNN cannot start on the GPU. `cudnn` outlives this.
  CudnnAttention(CudaDevice& device, const LoadedCudnn& cudnn);

  [[nodiscard]] bool enqueue(Stream& stream, const AttentionForward& op) override;
  [[nodiscard]] bool enqueue(Stream& stream, const AttentionBackward& op) override;
  [[nodiscard]] std::string implementations() const override;

 private:
  struct Plans {
    std::optional<CudnnPlan> forward{};
    std::optional<CudnnPlan> backward{};
    std::string trouble{};  // where they are not there
  };

  template <class Op>
  [[nodiscard]] bool take(Stream& stream, const Op& op, const char* name);
  [[nodiscard]] Plans make_plans(const AttentionShape& shape);
  // Null where it has none for such operands.
  [[nodiscard]] const Plans* plans_for(const AttentionShape& shape, std::string_view of_operands);
  [[nodiscard]] ByteSpan memory_for(Stream& stream, const Plans& plans,
                                    const AttentionShape& shape);

  const LoadedCudnn& cudnn_;
  Gpu& gpu_;
  GrowingMemory memory_;  // both plans' workspace, behind the row sums of backward
  CudnnSession session_;
  std::map<AttentionShape, Plans> plans_;
  std::string_view trouble_;  // of the latest; of a shape, or said of all
};

}  // namespace tandem::cuda
