// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "common/kernels/cuda/cudnn_graph.h"
#include "common/kernels/cuda/cudnn_session.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/library_operations.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operations.h"
#include "common/runtime/cuda/check.h"

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

namespace {

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
  Tensor probabilities = to.between(kNarrow, s.scores);
  to.pointwise_to(CUDNN_POINTWISE_DIV, powers, sums, probabilities);
  return probabilities;
}

// p^T . b, as a gradient in the packed ones.
void turned_product(CudnnGraph& to, const Sides& s, Tensor p, Tensor b, AttentionOperand gradient) {
  Tensor turned = to.between(kNarrow, s.scores, s.turned_scores);
  to.reshape_to(p, turned);
  to.product_to(turned, b, to.operand(gradient, kNarrow, s.tokens, s.packed));
}

// For each row of y the sum of dy y, which goes by memory, as cuDNN's engines want it.
Tensor row_sums(CudnnGraph& to, const Sides& s, Tensor dy) {
  Tensor y = to.operand(kOutput, kNarrow, s.tokens, s.result);
  Tensor both = to.pointwise(CUDNN_POINTWISE_MUL, dy, y, s.tokens);
  Tensor sums = to.reduce(CUDNN_REDUCE_TENSOR_ADD, both, s.rows);
  Tensor kept = to.operand(kRowSums, CUDNN_DATA_FLOAT, s.rows);
  to.pointwise_to(CUDNN_POINTWISE_MUL, sums, to.number(kOne), kept);
  return kept;
}

}  // namespace

CudnnGraph attention_forward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                   const AttentionShape& shape) {
  CudnnGraph to(api);
  const Sides s(shape);
  Tensor query = to.operand(kQuery, kNarrow, s.tokens, s.packed);
  Tensor key = to.operand(kKey, kNarrow, s.turned_tokens, s.turned_packed);
  Tensor scores = scores_of(to, s, query, key, to.number(kScale));
  Tensor seen = to.lower_triangle(scores, to.number(kMasked), s.scores);
  Tensor probabilities = softmax(to, s, seen);
  Tensor value = to.operand(kValue, kNarrow, s.tokens, s.packed);
  to.product_to(probabilities, value, to.operand(kOutput, kNarrow, s.tokens, s.result));
  to.finish(handle);
  return to;
}

CudnnGraph attention_backward_graph(const CudnnApi& api, cudnnHandle_t handle,
                                    const AttentionShape& shape) {
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
  Tensor upright_key = to.between(kNarrow, s.tokens, s.packed);
  to.reshape_to(key, upright_key);
  to.product_to(ds, upright_key, to.operand(kQueryGradient, kNarrow, s.tokens, s.packed));
  to.finish(handle);
  return to;
}

namespace {

// Backward that gives the same bits every time keeps all scores' gradients of a batch, in bf16.
constexpr Bytes kMostAttentionWorkspace = mib(2048);

constexpr std::int64_t kOperandAlignment = 16;
constexpr std::int64_t kWorkspaceAlignment = 256;

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kOneValue = 1;

float scale_of(const AttentionShape& shape) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_width)));
}

bool is_aligned(const CudnnOperand& operand) {
  return reinterpret_cast<std::uintptr_t>(operand.address) % kOperandAlignment == 0;
}

// Heads and rows lie whole heads apart.
std::string_view trouble_with(const AttentionShape& shape, DType type,
                              const std::vector<CudnnOperand>& operands) {
  if (type != DType::kBFloat16) return "cuDNN's fused engines take 16-bit types only";
  if (shape.head_width * size_of(type) % kOperandAlignment != 0 ||
      !std::ranges::all_of(operands, is_aligned)) {
    return "cuDNN's fused engines want operands and heads at multiples of 16 bytes";
  }
  return "";
}

// Versions whose engines are wrong by cudnn-frontend's account (1.23,
// scaled_dot_product_flash_attention.h): backward of 9.10.0 and 9.10.1; up to 9.15.0 what lies
// beyond the last whole tile of positions, unless a mask of its own hides it.
std::string trouble_with_version(std::size_t version, const AttentionShape& shape) {
  constexpr std::int64_t kTile = 128;
  if (version == 91000 || version == 91001) return "has a wrong backward, and 9.10.2 has not";
  if (version <= 91500 && shape.positions % kTile != 0) {
    return fmt::format("wants positions at multiples of {}, and 9.15.1 does not", kTile);
  }
  return "";
}

Bytes row_sums_size(const AttentionShape& shape) {
  const Bytes size = bytes_of<float>(shape.rows() * shape.heads);
  return Bytes{round_up(size.value, kWorkspaceAlignment)};
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
  if (const std::string trouble = trouble_with_version(api.get_version(), shape);
      !trouble.empty()) {
    return {.trouble = fmt::format("cuDNN {} {}", cudnn_.version, trouble)};
  }
  const DeviceGuard here(gpu_.ordinal());
  const PlanLimits limits{{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, kMostAttentionWorkspace};
  try {
    PlanChoice forward = choose_plan(
        api, session_.handle(), attention_forward_graph(api, session_.handle(), shape), limits);
    PlanChoice backward = choose_plan(
        api, session_.handle(), attention_backward_graph(api, session_.handle(), shape), limits);
    if (forward.plan && backward.plan) {
      return {.forward = std::move(forward.plan), .backward = std::move(backward.plan)};
    }
    const bool no_forward = !forward.plan.has_value();
    return {.trouble = fmt::format("cuDNN {} has no fused {} for it: {}", cudnn_.version,
                                   no_forward ? "forward" : "backward",
                                   no_forward ? forward.trouble : backward.trouble)};
  } catch (const CudnnError& refusal) {
    return {.trouble = refusal.what()};
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

ByteSpan CudnnAttention::memory_for(Stream& stream, const Plans& plans,
                                    const AttentionShape& shape) {
  const Bytes workspace =
      std::max({plans.forward->workspace, plans.backward->workspace, Bytes{kWorkspaceAlignment}});
  return memory_.at_least(stream, Bytes{row_sums_size(shape).value + workspace.value});
}

template <class Op>
bool CudnnAttention::take(Stream& stream, const Op& op, const char* name) {
  constexpr bool kIsBackward = requires { op.dqkv; };
  const AttentionShape& s = op.shape;
  const float scale = scale_of(s);
  std::vector<CudnnOperand> operands{{kQuery, part_of(op.qkv.data(), s, 0)},
                                     {kKey, part_of(op.qkv.data(), s, 1)},
                                     {kValue, part_of(op.qkv.data(), s, 2)},
                                     {kOutput, op.y.data()},
                                     {kLogSums, op.log_sums.data()}};
  if constexpr (kIsBackward) {
    operands.insert(operands.end(), {{kOutputGradient, op.dy.data()},
                                     {kQueryGradient, part_of(op.dqkv.data(), s, 0)},
                                     {kKeyGradient, part_of(op.dqkv.data(), s, 1)},
                                     {kValueGradient, part_of(op.dqkv.data(), s, 2)}});
  }
  const Plans* const plans = plans_for(s, trouble_with(s, op.qkv.dtype(), operands));
  if (plans == nullptr) return false;
  const ByteSpan memory = memory_for(stream, *plans, s);
  operands.insert(operands.end(), {{kScale, &scale}, {kMasked, &kLowest}});
  if constexpr (kIsBackward) {
    operands.insert(operands.end(), {{kOne, &kOneValue}, {kRowSums, memory.data()}});
  }
  std::vector<Access> all = op.accesses();
  all.push_back(writes(memory));
  queue(stream, name, all, [&](cudaStream_t on) {
    session_.enqueue(on, kIsBackward ? *plans->backward : *plans->forward, operands,
                     memory.data() + row_sums_size(s).value,
                     [&] { return std::string("fused ") + name; });
    return cudaSuccess;
  });
  return true;
}

bool CudnnAttention::enqueue(Stream& stream, const AttentionForward& op) {
  return take(stream, op, "attention_forward");
}

bool CudnnAttention::enqueue(Stream& stream, const AttentionBackward& op) {
  return take(stream, op, "attention_backward");
}

std::string CudnnAttention::implementations() const {
  if (trouble_.empty()) return fmt::format("cuDNN {}, fused", cudnn_.version);
  return fmt::format("products and softmax, since {}", trouble_);
}

std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& device) {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api == nullptr) return std::make_unique<NoFusedAttention>(cudnn.trouble);
  try {
    return std::make_unique<CudnnAttention>(device, cudnn);
  } catch (const Error& failure) {
    if (failure.kind() != ErrorKind::kFailure) throw;
    return std::make_unique<NoFusedAttention>(failure.what());
  }
}

}  // namespace tandem::cuda
