// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>

#include "common/base/rounding.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/library_operations.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operations.h"
#include "common/runtime/cuda/check.h"

namespace tandem::cuda {

namespace {

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

using Sizes = CudnnGraph::Sizes;
using Tensor = CudnnGraph::Tensor;

constexpr cudnnDataType_t kNarrow = CUDNN_DATA_BFLOAT16;

// Sizes are (batch, heads, rows, columns) of whatever lies next to what in memory.
struct Sides {
  explicit Sides(const AttentionShape& s)
      : tokens{s.batch, s.heads, s.positions, s.head_width},
        turned_tokens{s.batch, s.heads, s.head_width, s.positions},
        scores{s.batch, s.heads, s.positions, s.positions},
        rows{s.batch, s.heads, s.positions, 1},
        packed{3 * s.positions * s.width(), s.head_width, 3 * s.width(), 1},
        turned_packed{packed[0], packed[1], packed[3], packed[2]},
        result{s.positions * s.width(), s.head_width, s.width(), 1},
        turned_scores{s.heads * s.positions * s.positions, s.positions * s.positions, 1,
                      s.positions} {}

  Sizes tokens, turned_tokens, scores, rows;
  Sizes packed, turned_packed, result, turned_scores;  // strides
};

// The scores of all pairs of positions, scaled.
Tensor scores_of(CudnnGraph& to, const Sides& s, Tensor query, Tensor turned_key, Tensor scale) {
  Tensor products = to.product(query, turned_key, s.scores);
  return to.pointwise(CUDNN_POINTWISE_MUL, products, scale, s.scores);
}

// The softmax of rows of scores, in bf16.
Tensor softmax(CudnnGraph& to, const Sides& s, Tensor scores) {
  Tensor most = to.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, s.rows);
  Tensor below = to.pointwise(CUDNN_POINTWISE_SUB, scores, most, s.scores);
  Tensor powers = to.pointwise(CUDNN_POINTWISE_EXP, below, s.scores);
  Tensor sums = to.reduce(CUDNN_REDUCE_TENSOR_ADD, powers, s.rows);
  Tensor logs = to.pointwise(CUDNN_POINTWISE_LOG, sums, s.rows);
  to.pointwise_to(CUDNN_POINTWISE_ADD, most, logs, to.operand(kLogSums, CUDNN_DATA_FLOAT, s.rows));
  return to.pointwise_to(CUDNN_POINTWISE_DIV, powers, sums, to.between(kNarrow, s.scores));
}

// p^T . b, as a gradient in the packed ones.
void turned_product(CudnnGraph& to, const Sides& s, Tensor p, Tensor b, AttentionOperand gradient) {
  Tensor turned = to.reshape_to(p, to.between(kNarrow, s.scores, s.turned_scores));
  to.product_to(turned, b, to.operand(gradient, kNarrow, s.tokens, s.packed));
}

// For each row of y the sum of dy y, which goes by memory, as cuDNN's engines want it.
Tensor row_sums(CudnnGraph& to, const Sides& s, Tensor dy) {
  Tensor y = to.operand(kOutput, kNarrow, s.tokens, s.result);
  Tensor both = to.pointwise(CUDNN_POINTWISE_MUL, dy, y, s.tokens);
  Tensor sums = to.reduce(CUDNN_REDUCE_TENSOR_ADD, both, s.rows);
  return to.pointwise_to(CUDNN_POINTWISE_MUL, sums, to.number(kOne),
                         to.operand(kRowSums, CUDNN_DATA_FLOAT, s.rows));
}

CudnnGraph attention_forward_graph(const CudnnApi& api, const AttentionShape& shape) {
  CudnnGraph to(api);
  const Sides s(shape);
  Tensor query = to.operand(kQuery, kNarrow, s.tokens, s.packed);
  Tensor key = to.operand(kKey, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor scores = scores_of(to, s, query, key, to.number(kScale));
  Tensor seen = to.lower_triangle(scores, to.number(kMasked), s.scores);
  Tensor probabilities = softmax(to, s, seen);
  Tensor value = to.operand(kValue, kNarrow, s.tokens, s.packed);
  to.product_to(probabilities, value, to.operand(kOutput, kNarrow, s.tokens, s.result));
  return to;
}

CudnnGraph attention_backward_graph(const CudnnApi& api, const AttentionShape& shape) {
  CudnnGraph to(api);
  const Sides s(shape);
  Tensor query = to.operand(kQuery, kNarrow, s.tokens, s.packed);
  Tensor key = to.operand(kKey, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor value = to.operand(kValue, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor dy = to.operand(kOutputGradient, kNarrow, s.tokens, s.result);
  Tensor scale = to.number(kScale);
  Tensor sums = row_sums(to, s, dy);

  Tensor scores = scores_of(to, s, query, key, scale);
  Tensor log_sums = to.operand(kLogSums, CUDNN_DATA_FLOAT, s.rows);
  Tensor logs = to.pointwise(CUDNN_POINTWISE_SUB, scores, log_sums, s.scores);
  Tensor seen = to.lower_triangle(logs, to.number(kMasked), s.scores);
  Tensor probabilities = to.pointwise(CUDNN_POINTWISE_EXP, seen, s.scores);
  turned_product(to, s, probabilities, dy, kValueGradient);

  Tensor dp = to.product(dy, value, s.scores);
  Tensor apart = to.pointwise(CUDNN_POINTWISE_SUB, dp, sums, s.scores);
  Tensor slopes = to.pointwise(CUDNN_POINTWISE_MUL, apart, probabilities, s.scores);
  Tensor ds = to.pointwise(CUDNN_POINTWISE_MUL, slopes, scale, s.scores);
  turned_product(to, s, ds, query, kKeyGradient);
  Tensor upright_key = to.reshape_to(key, to.between(kNarrow, s.tokens, s.packed));
  to.product_to(ds, upright_key, to.operand(kQueryGradient, kNarrow, s.tokens, s.packed));
  return to;
}

// Backward that gives the same bits every time keeps all scores' gradients of a batch, in bf16.
constexpr Bytes kMostAttentionWorkspace = mib(2048);

constexpr std::int64_t kOperandAlignment = 16;
constexpr std::int64_t kWorkspaceAlignment = 256;

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kOneValue = 1;

// Heads and rows lie whole heads apart.
std::string_view trouble_with(const AttentionShape& shape, DType type,
                              const std::vector<Access>& operands) {
  if (type != DType::kBFloat16) return "cuDNN's fused engines take 16-bit types only";
  const auto is_aligned = [type](const Access& operand) {
    return cudnn_alignment(operand.address, type) == kOperandAlignment;
  };
  if (shape.head_width * size_of(type) % kOperandAlignment != 0 ||
      !std::ranges::all_of(operands, is_aligned)) {
    return "cuDNN's fused engines want operands and heads at multiples of 16 bytes";
  }
  return "";
}

// Versions whose engines are wrong by cudnn-frontend's account (1.23,
// scaled_dot_product_flash_attention.h): backward of 9.10.0 and 9.10.1; up to 9.15.0 what lies
// beyond the last whole tile of positions, unless a mask of its own hides it.
std::string trouble_with_version(const LoadedCudnn& cudnn, const AttentionShape& shape) {
  constexpr std::int64_t kTile = 128;
  const std::size_t version = cudnn.api->get_version();
  if (version == 91000 || version == 91001) {
    return fmt::format("cuDNN {} has a wrong backward, and 9.10.2 has not", cudnn.version);
  }
  if (version <= 91500 && shape.positions % kTile != 0) {
    return fmt::format("cuDNN {} wants positions at multiples of {}, and 9.15.1 does not",
                       cudnn.version, kTile);
  }
  return "";
}

// Makes the plans of a slice; or returns the workspace that is in the way of them, 0 where
// something else is, and says in `all` what is.
std::optional<Bytes> make_plans(const LoadedCudnn& cudnn, cudnnHandle_t handle,
                                const AttentionShape& slice, std::optional<AttentionPlans>& plans,
                                AttentionChoice& all) {
  const CudnnApi& api = *cudnn.api;
  const PlanLimits limits{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, kMostAttentionWorkspace};
  PlanChoice forward = choose_plan(api, handle, attention_forward_graph(api, slice), limits);
  PlanChoice backward = choose_plan(api, handle, attention_backward_graph(api, slice), limits);
  if (forward.plan && backward.plan) {
    all.workspace = std::max({all.workspace, forward.plan->workspace, backward.plan->workspace});
    plans.emplace(AttentionPlans{std::move(*forward.plan), std::move(*backward.plan)});
    return std::nullopt;
  }
  const PlanChoice& refused = forward.plan ? backward : forward;
  all.trouble = fmt::format("cuDNN {} has no fused {} for it: {}", cudnn.version,
                            forward.plan ? "backward" : "forward", refused.trouble);
  return refused.wanted;
}

// As many samples as keep to the limit where `slice` of them want so much workspace, in slices of
// about the same size; 0 where one wants too much. Each slice's log_sums lie aligned too.
std::int64_t smaller_slice(const AttentionShape& shape, std::int64_t slice, Bytes wanted) {
  if (wanted.value == 0) return 0;
  const std::int64_t sums = bytes_of<float>(shape.positions * shape.heads).value;
  const std::int64_t unit = kOperandAlignment / std::gcd(kOperandAlignment, sums);
  std::int64_t most = std::min(slice - 1, kMostAttentionWorkspace.value * slice / wanted.value);
  most -= most % unit;
  return most == 0 ? 0 : round_up(ceil_div(shape.batch, ceil_div(shape.batch, most)), unit);
}

}  // namespace

AttentionChoice choose_attention(const LoadedCudnn& cudnn, cudnnHandle_t handle,
                                 const AttentionShape& shape) {
  AttentionChoice all{.slice = shape.batch, .trouble = trouble_with_version(cudnn, shape)};
  if (!all.trouble.empty()) return all;
  const auto make = [&](std::int64_t samples, std::optional<AttentionPlans>& plans) {
    const AttentionShape slice{samples, shape.positions, shape.heads, shape.head_width};
    return make_plans(cudnn, handle, slice, plans, all);
  };
  try {
    while (const std::optional<Bytes> wanted = make(all.slice, all.plans)) {
      all.slice = smaller_slice(shape, all.slice, *wanted);
      if (all.slice == 0) return all;
    }
    const std::int64_t rest = shape.batch % all.slice;
    if (rest == 0 || !make(rest, all.rest)) all.trouble.clear();
  } catch (const CudnnError& refusal) {
    all.trouble = refusal.what();
  }
  return all;
}

namespace {

// The addresses of an operation's operands, from one of its samples on.
template <class Op>
std::vector<CudnnOperand> operands_of(const Op& op, std::int64_t sample) {
  const AttentionShape& s = op.shape;
  const std::int64_t width = s.width() * size_of(DType::kBFloat16);
  const std::int64_t row = sample * s.positions;
  const auto packed = [&](auto* all, int part) { return all + (3 * row + part) * width; };
  std::vector<CudnnOperand> all{{kQuery, packed(op.qkv.data(), 0)},
                                {kKey, packed(op.qkv.data(), 1)},
                                {kValue, packed(op.qkv.data(), 2)},
                                {kOutput, op.y.data() + row * width},
                                {kLogSums, op.log_sums.data() + row * s.heads}};
  if constexpr (requires { op.dqkv; }) {
    all.insert(all.end(), {{kOutputGradient, op.dy.data() + row * width},
                           {kQueryGradient, packed(op.dqkv.data(), 0)},
                           {kKeyGradient, packed(op.dqkv.data(), 1)},
                           {kValueGradient, packed(op.dqkv.data(), 2)}});
  }
  return all;
}

class CudnnAttention final : public FusedAttention {
 public:
  // A failure where cuDNN cannot start on the GPU. `cudnn` outlives this.
  CudnnAttention(CudaDevice& device, const LoadedCudnn& cudnn)
      : cudnn_(cudnn), gpu_(device.gpu()), memory_(device), session_(gpu_, *cudnn.api) {}

  std::string_view enqueue(Stream& stream, const AttentionForward& op) override {
    return take(stream, op, "attention_forward");
  }
  std::string_view enqueue(Stream& stream, const AttentionBackward& op) override {
    return take(stream, op, "attention_backward");
  }
  [[nodiscard]] std::string implementation(const AttentionShape& shape) const override;

 private:
  template <class Op>
  std::string_view take(Stream& stream, const Op& op, const char* name);

  const LoadedCudnn& cudnn_;
  Gpu& gpu_;
  GrowingMemory memory_;  // the plans' workspace, behind the row sums of backward
  CudnnSession session_;
  std::map<AttentionShape, AttentionChoice> choices_;
};

template <class Op>
std::string_view CudnnAttention::take(Stream& stream, const Op& op, const char* name) {
  constexpr bool kIsBackward = requires { op.dqkv; };
  const AttentionShape& s = op.shape;
  std::vector<Access> all = op.accesses();
  const std::string_view trouble = trouble_with(s, op.qkv.dtype(), all);
  if (!trouble.empty()) return trouble;
  if (!choices_.contains(s)) {
    const DeviceGuard here(gpu_.ordinal());
    choices_.emplace(s, choose_attention(cudnn_, session_.handle(), s));
  }
  const AttentionChoice& choice = choices_.at(s);
  if (!choice.trouble.empty()) return choice.trouble;
  const std::int64_t row_sums =
      round_up(bytes_of<float>(choice.slice * s.positions * s.heads).value, kWorkspaceAlignment);
  const ByteSpan memory = memory_.at_least(stream, Bytes{row_sums + choice.workspace.value});
  all.push_back(writes(memory));
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_width)));
  queue(stream, name, all, [&](cudaStream_t on) {
    for (std::int64_t first = 0; first < s.batch; first += choice.slice) {
      const AttentionPlans& plans = first + choice.slice <= s.batch ? *choice.plans : *choice.rest;
      std::vector<CudnnOperand> operands = operands_of(op, first);
      operands.insert(operands.end(), {{kScale, &scale}, {kMasked, &kLowest}});
      if constexpr (kIsBackward) {
        operands.insert(operands.end(), {{kOne, &kOneValue}, {kRowSums, memory.data()}});
      }
      session_.enqueue(on, kIsBackward ? plans.backward : plans.forward, operands,
                       memory.data() + row_sums, [&] { return std::string("fused ") + name; });
    }
    return cudaSuccess;
  });
  return "";
}

std::string CudnnAttention::implementation(const AttentionShape& shape) const {
  const std::int64_t slice = choices_.at(shape).slice;
  const std::string whole = fmt::format("cuDNN {}, fused", cudnn_.version);
  if (slice == shape.batch) return whole;
  return fmt::format("{}, in slices of {} of {} samples", whole, slice, shape.batch);
}

}  // namespace

std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& device) {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api == nullptr) return std::make_unique<FusedAttention>(cudnn.trouble);
  try {
    return std::make_unique<CudnnAttention>(device, cudnn);
  } catch (const Error& failure) {
    if (failure.kind() != ErrorKind::kFailure) throw;
    return std::make_unique<FusedAttention>(failure.what());
  }
}

}  // namespace tandem::cuda
