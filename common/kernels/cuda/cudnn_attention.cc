// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/queue.h"
#include "common/runtime/cuda/device_guard.h"

namespace tandem::cuda {
namespace {

// Backward that gives the same bits every time keeps all scores' gradients of a batch, in bf16.
constexpr Bytes kMostAttentionWorkspace = mib(2048);

constexpr std::int64_t kOperandAlignment = 16;
constexpr std::int64_t kWorkspaceAlignment = 256;

// Earlier ones want a mask of their own where positions are no multiple of 128.
constexpr std::size_t kOldestWithAttention = 91600;

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kOneValue = 1;

float scale_of(const AttentionShape& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_width)));
}

bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kOperandAlignment == 0;
}

// Heads and rows lie whole heads apart.
std::string_view trouble_with(const AttentionShape& shape, DType type,
                              std::initializer_list<const void*> operands) {
  if (type != DType::kBFloat16) return "cuDNN's fused engines take 16-bit types only";
  if (shape.head_width * size_of(type) % kOperandAlignment != 0 ||
      !std::ranges::all_of(operands, is_aligned)) {
    return "cuDNN's fused engines want operands and heads at multiples of 16 bytes";
  }
  return "";
}

Bytes row_sums_size(const AttentionShape& shape) {
  const Bytes size = bytes_of<float>(shape.rows() * shape.heads);
  return Bytes{ceil_div(size.value, kWorkspaceAlignment) * kWorkspaceAlignment};
}

// Query, key and value (0, 1, 2) within (batch, positions, 3, heads, head_width) of bf16.
template <class Byte>
Byte* part_of(Byte* packed, const AttentionShape& shape, int part) {
  return packed + part * shape.width() * size_of(DType::kBFloat16);
}

}  // namespace

CudnnAttention::CudnnAttention(CudaDevice& device, const LoadedCudnn& cudnn)
    : cudnn_(cudnn), gpu_(device.gpu()), memory_(device), session_(device.gpu(), *cudnn.api) {}

CudnnAttention::Plans CudnnAttention::make_plans(const AttentionShape& shape) {
  const CudnnApi& api = session_.api();
  if (api.get_version() < kOldestWithAttention) {
    return {std::nullopt, std::nullopt, "cuDNN " + cudnn_.version + " is older than 9.16"};
  }
  const DeviceGuard here(gpu_.ordinal());
  const PlanLimits limits{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, kMostAttentionWorkspace};
  try {
    PlanChoice forward = choose_plan(
        api, session_.handle(), attention_forward_graph(api, session_.handle(), shape), limits);
    PlanChoice backward = choose_plan(
        api, session_.handle(), attention_backward_graph(api, session_.handle(), shape), limits);
    if (forward.plan && backward.plan) {
      return {std::move(forward.plan), std::move(backward.plan), ""};
    }
    const bool no_forward = !forward.plan.has_value();
    return {std::nullopt, std::nullopt,
            fmt::format("cuDNN {} has no fused {} for it: {}", cudnn_.version,
                        no_forward ? "forward" : "backward",
                        no_forward ? forward.trouble : backward.trouble)};
  } catch (const CudnnError& refusal) {
    return {std::nullopt, std::nullopt, refusal.what()};
  }
}

const CudnnAttention::Plans* CudnnAttention::plans_for(const AttentionShape& shape,
                                                       std::string_view of_operands) {
  trouble_ = of_operands;
  if (!trouble_.empty()) return nullptr;
  auto found = plans_.find(shape);
  if (found == plans_.end()) found = plans_.emplace(shape, make_plans(shape)).first;
  trouble_ = found->second.trouble;
  return trouble_.empty() ? &found->second : nullptr;
}

ByteSpan CudnnAttention::memory_for(const Plans& plans, const AttentionShape& shape) {
  const Bytes workspace =
      std::max({plans.forward->workspace, plans.backward->workspace, Bytes{kWorkspaceAlignment}});
  return memory_.at_least(Bytes{row_sums_size(shape).value + workspace.value});
}

bool CudnnAttention::enqueue(Stream& stream, const AttentionForward& op) {
  const AttentionShape& s = op.shape;
  const Plans* const plans = plans_for(
      s, trouble_with(s, op.qkv.dtype(), {op.qkv.data(), op.y.data(), op.log_sums.data()}));
  if (plans == nullptr) return false;
  const ByteSpan memory = memory_for(*plans, s);
  queue(stream, "attention_forward", op, memory, [&](cudaStream_t on) {
    const float scale = scale_of(s);
    const std::array<CudnnOperand, 7> operands{CudnnOperand{kQuery, part_of(op.qkv.data(), s, 0)},
                                               {kKey, part_of(op.qkv.data(), s, 1)},
                                               {kValue, part_of(op.qkv.data(), s, 2)},
                                               {kOutput, op.y.data()},
                                               {kLogSums, op.log_sums.data()},
                                               {kScale, &scale},
                                               {kMasked, &kLowest}};
    session_.enqueue(on, *plans->forward, operands, memory.data() + row_sums_size(s).value,
                     [] { return "fused attention_forward"; });
    return cudaSuccess;
  });
  return true;
}

bool CudnnAttention::enqueue(Stream& stream, const AttentionBackward& op) {
  const AttentionShape& s = op.shape;
  const Plans* const plans = plans_for(s, trouble_with(s, op.qkv.dtype(),
                                                       {op.qkv.data(), op.y.data(), op.dy.data(),
                                                        op.log_sums.data(), op.dqkv.data()}));
  if (plans == nullptr) return false;
  const ByteSpan memory = memory_for(*plans, s);
  queue(stream, "attention_backward", op, memory, [&](cudaStream_t on) {
    const float scale = scale_of(s);
    const std::array<CudnnOperand, 13> operands{CudnnOperand{kQuery, part_of(op.qkv.data(), s, 0)},
                                                {kKey, part_of(op.qkv.data(), s, 1)},
                                                {kValue, part_of(op.qkv.data(), s, 2)},
                                                {kOutput, op.y.data()},
                                                {kLogSums, op.log_sums.data()},
                                                {kScale, &scale},
                                                {kMasked, &kLowest},
                                                {kOne, &kOneValue},
                                                {kOutputGradient, op.dy.data()},
                                                {kQueryGradient, part_of(op.dqkv.data(), s, 0)},
                                                {kKeyGradient, part_of(op.dqkv.data(), s, 1)},
                                                {kValueGradient, part_of(op.dqkv.data(), s, 2)},
                                                {kRowSums, memory.data()}};
    session_.enqueue(on, *plans->backward, operands, memory.data() + row_sums_size(s).value,
                     [] { return "fused attention_backward"; });
    return cudaSuccess;
  });
  return true;
}

std::string CudnnAttention::means() const {
  if (trouble_.empty()) return fmt::format("cuDNN {}, fused", cudnn_.version);
  return fmt::format("products and softmax, since {}", trouble_);
}

std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& device) {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api == nullptr) return std::make_unique<NoFusedAttention>(cudnn.trouble);
  return std::make_unique<CudnnAttention>(device, cudnn);
}

}  // namespace tandem::cuda
