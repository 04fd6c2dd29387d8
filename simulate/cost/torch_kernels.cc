// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/torch_kernels.h"

#include <cstdint>

namespace tandem {
namespace {

using Kernels = std::vector<ListedKernel>;

constexpr std::int64_t kWide = 4;   // bytes of an element of fp32
constexpr std::int64_t kIndex = 8;  // bytes of torch's indices

// The bytes of operands, each once; those that are left out have none.
template <class... Operands>
std::int64_t bytes(const Operands&... operands) {
  return (operands.size_bytes().value + ... + 0);
}

std::int64_t element(const ConstAnySpan& operand) { return size_of(operand.dtype()); }
bool is_narrow(const ConstAnySpan& operand) { return operand.dtype() != DType::kFloat32; }

NumberType type_of(const ConstAnySpan& operand, NumberType wide) {
  return is_narrow(operand) ? NumberType::kBf16 : wide;
}

// A kernel that takes as long as its bytes do, whatever their type.
ListedKernel moving(KernelKind kind, std::int64_t bytes,
                    KernelLayout layout = KernelLayout::kNone) {
  return {.kind = kind, .layout = layout, .sizes = {bytes}};
}

ListedKernel pointwise(std::int64_t bytes) { return moving(KernelKind::kPointwise, bytes); }

// A cast between fp32 and a narrow type of `like`, where there is one.
void add_cast(Kernels& kernels, const ConstAnySpan& like, std::int64_t count) {
  if (!is_narrow(like) || count == 0) return;
  kernels.push_back(moving(KernelKind::kCopy, (kWide + element(like)) * count));
}

ListedKernel product(NumberType type, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                     std::int64_t bytes) {
  return {.kind = KernelKind::kProduct, .type = type, .sizes = {1, rows, columns, depth, bytes}};
}

ListedKernel convolution(KernelKind kind, const ConvolutionShape& s, const ConstAnySpan& image,
                         const TorchTypes& types) {
  const std::int64_t count = s.input_count() + s.weight_count() + s.output_count();
  return {.kind = kind,
          .type = type_of(image, types.convolutions),
          .layout = types.images,
          .sizes = {s.batch, s.in, s.out, s.out_height() * s.out_width(), s.height * s.width,
                    s.kernel * s.kernel, 1, element(image) * count}};
}

ListedKernel attention(KernelKind kind, const AttentionShape& s, const ConstAnySpan& qkv,
                       std::int64_t bytes) {
  return {.kind = kind,
          .type = type_of(qkv, NumberType::kFp32),
          .layout = is_narrow(qkv) ? KernelLayout::kFlash : KernelLayout::kEfficient,
          .sizes = {s.batch * s.heads, s.positions, s.positions, s.head_width, bytes}};
}

// torch has cuDNN normalise images of fp32 alone.
KernelKind norm_kind(const ConstAnySpan& image, KernelKind cudnn, KernelKind native) {
  return is_narrow(image) ? native : cudnn;
}

// One kernel of an optimizer for all tensors, which touches each of their elements this often.
ListedKernel update(std::int64_t elements, std::int64_t touched) {
  return moving(KernelKind::kUpdate, kWide * touched * elements);
}

template <class Update>
std::int64_t parameters_of(const Update& op) {
  std::int64_t all = 0;
  for (const auto& tensor : op.tensors) all += tensor.weight.size();
  return all;
}

void add_all(Kernels& kernels, const Kernels& more) {
  kernels.insert(kernels.end(), more.begin(), more.end());
}

}  // namespace

Kernels torch_kernels(const ConvolutionForward& op, const TorchTypes& types) {
  return {convolution(KernelKind::kConvolution, op.shape, op.x, types)};
}

Kernels torch_kernels(const ConvolutionBackwardInput& op, const TorchTypes& types) {
  return {convolution(KernelKind::kConvolutionInput, op.shape, op.dy, types)};
}

Kernels torch_kernels(const ConvolutionBackwardWeight& op, const TorchTypes& types) {
  Kernels kernels{convolution(KernelKind::kConvolutionWeight, op.shape, op.x, types)};
  add_cast(kernels, op.x, op.dweight.size());
  return kernels;
}

Kernels torch_kernels(const LinearForward& op, const TorchTypes& types) {
  const auto& [rows, in, out] = op.shape;
  Kernels kernels{
      product(type_of(op.x, types.products), rows, out, in, bytes(op.x, op.weight, op.bias, op.y))};
  if (op.activation != Activation::kNone) kernels.push_back(pointwise(2 * bytes(op.y)));
  return kernels;
}

Kernels torch_kernels(const LinearBackwardInput& op, const TorchTypes& types) {
  const auto& [rows, in, out] = op.shape;
  Kernels kernels{
      product(type_of(op.dy, types.products), rows, in, out, bytes(op.dy, op.weight, op.dx))};
  if (!op.before.empty()) kernels.push_back(pointwise(3 * bytes(op.dx)));
  return kernels;
}

Kernels torch_kernels(const LinearBackwardWeight& op, const TorchTypes& types) {
  const auto& [rows, in, out] = op.shape;
  Kernels kernels{product(type_of(op.x, types.products), out, in, rows,
                          bytes(op.x, op.dy) + element(op.x) * op.dweight.size())};
  add_cast(kernels, op.x, op.dweight.size());
  if (op.dbias.empty()) return kernels;
  kernels.push_back(moving(KernelKind::kReduction, bytes(op.dy) + element(op.dy) * out));
  add_cast(kernels, op.x, out);
  return kernels;
}

Kernels torch_kernels(const ReluBackward& op, const TorchTypes& /*types*/) {
  return {pointwise(3 * bytes(op.dy))};
}

Kernels torch_kernels(const EmbeddingForward& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kGather, 2 * bytes(op.y)),
          moving(KernelKind::kGather, 2 * bytes(op.places)),
          pointwise(2 * bytes(op.y) + bytes(op.places))};
}

// The token table's gradient is added to that of the head, which is the same table.
Kernels torch_kernels(const EmbeddingBackward& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kReduction, bytes(op.dy, op.dplaces)),
          moving(KernelKind::kScatter, 2 * bytes(op.dplaces)),
          moving(KernelKind::kScatter, 2 * bytes(op.dtokens)), pointwise(3 * bytes(op.dtokens))};
}

// In fp32 whatever the linear layers compute in.
Kernels torch_kernels(const LayerNormForward& op, const TorchTypes& /*types*/) {
  Kernels kernels;
  if (!op.branch.empty()) kernels.push_back(pointwise(bytes(op.x, op.branch, op.sum)));
  kernels.push_back(
      moving(KernelKind::kLayerNorm, 2 * bytes(op.x) + bytes(op.gain, op.bias, op.mean, op.rstd)));
  add_cast(kernels, op.y, op.y.size());
  return kernels;
}

Kernels torch_kernels(const LayerNormBackward& op, const TorchTypes& /*types*/) {
  Kernels kernels;
  add_cast(kernels, op.dy, op.dy.size());
  const std::int64_t of_rows = 3 * bytes(op.dsum);
  kernels.push_back(
      moving(KernelKind::kLayerNormBackward,
             of_rows + bytes(op.gain, op.gain, op.mean, op.rstd, op.dgain, op.dbias)));
  if (!op.dabove.empty()) kernels.push_back(pointwise(of_rows));
  add_cast(kernels, op.dbranch, op.dbranch.size());
  return kernels;
}

Kernels torch_kernels(const AttentionForward& op, const TorchTypes& /*types*/) {
  return {attention(KernelKind::kAttention, op.shape, op.qkv, bytes(op.qkv, op.y, op.log_sums))};
}

// The gradients of q, k and v are put together and brought into the linear layer's order.
Kernels torch_kernels(const AttentionBackward& op, const TorchTypes& /*types*/) {
  return {attention(KernelKind::kAttentionBackward, op.shape, op.qkv,
                    bytes(op.qkv, op.y, op.dy, op.log_sums, op.dqkv)),
          moving(KernelKind::kConcatenation, 2 * bytes(op.dqkv)),
          moving(KernelKind::kCopy, 2 * bytes(op.dqkv))};
}

Kernels torch_kernels(const BatchNormForward& op, const TorchTypes& types) {
  const KernelKind kind = norm_kind(op.x, KernelKind::kBatchNorm, KernelKind::kNativeBatchNorm);
  Kernels kernels{moving(
      kind,
      bytes(op.x, op.y, op.gain, op.bias, op.running_mean, op.running_variance, op.mean, op.rstd),
      types.images)};
  if (!op.residual.empty()) kernels.push_back(pointwise(3 * bytes(op.y)));
  if (op.activation != Activation::kNone) kernels.push_back(pointwise(2 * bytes(op.y)));
  return kernels;
}

Kernels torch_kernels(const BatchNormBackward& op, const TorchTypes& types) {
  Kernels kernels;
  if (!op.dabove.empty()) kernels.push_back(pointwise(3 * bytes(op.dx)));
  if (!op.y.empty()) kernels.push_back(pointwise(3 * bytes(op.dx)));
  const KernelKind kind =
      norm_kind(op.x, KernelKind::kBatchNormBackward, KernelKind::kNativeBatchNormBackward);
  kernels.push_back(moving(
      kind, 3 * bytes(op.dx) + bytes(op.gain, op.mean, op.rstd, op.dgain, op.dbias), types.images));
  return kernels;
}

// Beside the largest number of a window torch keeps its index.
Kernels torch_kernels(const MaxPoolForward& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kPooling, bytes(op.x, op.y) + kIndex * op.y.size())};
}

Kernels torch_kernels(const MaxPoolBackward& op, const TorchTypes& /*types*/) {
  Kernels kernels;
  if (!op.dabove.empty()) kernels.push_back(pointwise(3 * bytes(op.dy)));
  kernels.push_back(
      moving(KernelKind::kPoolingBackward, bytes(op.x, op.dy, op.dx) + kIndex * op.dy.size()));
  return kernels;
}

Kernels torch_kernels(const AveragePoolForward& op, const TorchTypes& types) {
  return {moving(KernelKind::kReduction, bytes(op.x, op.y), types.images)};
}

Kernels torch_kernels(const AveragePoolBackward& op, const TorchTypes& /*types*/) {
  return {pointwise(bytes(op.dy, op.dx))};
}

Kernels torch_kernels(const MseLossBackward& op, const TorchTypes& /*types*/) {
  Kernels kernels{pointwise(3 * kWide * op.gradient.size())};
  add_cast(kernels, op.gradient, op.gradient.size());
  return kernels;
}

Kernels torch_kernels(const MseLoss& op, const TorchTypes& types) {
  Kernels kernels;
  add_cast(kernels, op.prediction, op.prediction.size());
  kernels.push_back(pointwise(2 * bytes(op.target)));
  if (op.gradient.empty()) return kernels;
  add_all(kernels,
          torch_kernels(MseLossBackward{op.prediction, op.target, {}, op.gradient}, types));
  return kernels;
}

// Kernels of the choice of the target's class, and of the logarithm of the softmax.
Kernels torch_kernels(const CrossEntropyLossBackward& op, const TorchTypes& /*types*/) {
  Kernels kernels{pointwise(2 * kWide * op.gradient.size())};
  add_cast(kernels, op.gradient, op.gradient.size());
  kernels.push_back(moving(KernelKind::kSoftmaxBackward, 3 * bytes(op.gradient)));
  return kernels;
}

Kernels torch_kernels(const CrossEntropyLoss& op, const TorchTypes& types) {
  Kernels kernels{moving(KernelKind::kSoftmax, 2 * bytes(op.prediction))};
  add_cast(kernels, op.prediction, op.prediction.size());
  kernels.push_back(
      moving(KernelKind::kReduction, kWide * op.prediction.size() + kIndex * op.target.size()));
  if (op.gradient.empty()) return kernels;
  const CrossEntropyLossBackward backward{op.classes, op.prediction, op.target,
                                          {},         op.gradient,   op.padding};
  add_all(kernels, torch_kernels(backward, types));
  return kernels;
}

Kernels torch_kernels(const WeightedSum& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kReduction, bytes(op.values, op.weights, op.sum))};
}

// By torch._foreach_mul_, and _foreach_add_ to velocities and to weights.
Kernels torch_kernels(const SgdUpdate& op, const TorchTypes& /*types*/) {
  const std::int64_t all = parameters_of(op);
  return {update(all, 1), update(all, 2), update(all, 2)};
}

// By lerp, mul, addcmul, sqrt, div, add and addcdiv of torch._foreach.
Kernels torch_kernels(const AdamUpdate& op, const TorchTypes& /*types*/) {
  const std::int64_t all = parameters_of(op);
  return {update(all, 2), update(all, 1), update(all, 3), update(all, 2),
          update(all, 1), update(all, 1), update(all, 3)};
}

Kernels torch_kernels(const FillRandom& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kFill, bytes(op.values))};
}

Kernels torch_kernels(const Fill& op, const TorchTypes& /*types*/) {
  return {moving(KernelKind::kFill, bytes(op.values))};
}

Kernels torch_kernels(const Scale& op, const TorchTypes& /*types*/) {
  return {pointwise(bytes(op.in, op.out))};
}

Kernels torch_kernels(const AddScalar& op, const TorchTypes& /*types*/) {
  Kernels kernels;
  for (const Span<float> values : op.tensors) kernels.push_back(pointwise(2 * bytes(values)));
  return kernels;
}

Kernels torch_kernels(const Add& op, const TorchTypes& /*types*/) {
  return {pointwise(bytes(op.a, op.b, op.sum))};
}

Kernels torch_kernels(const Convert& op, const TorchTypes& /*types*/) {
  Kernels kernels;
  for (const auto& [in, out] : op.tensors) {
    kernels.push_back(moving(KernelKind::kCopy, bytes(in, out)));
    if (op.divisor != 1) kernels.push_back(pointwise(2 * bytes(out)));
  }
  return kernels;
}

}  // namespace tandem
