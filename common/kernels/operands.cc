// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/operands.h"

#include <initializer_list>
#include <optional>
#include <type_traits>

namespace tandem {

namespace {

// An operand and the element count that the operation needs. A const element is only read. A span
// of any type has the type in which the operation computes.
struct Operand {
  template <class T>
  Operand(std::string_view operand_name, Span<T> span, std::int64_t needed)
      : name(operand_name), size(span.size()), count(needed) {
    access = std::is_const_v<T> ? reads(span) : writes(span);
  }

  template <class Byte>
  Operand(std::string_view operand_name, BasicAnySpan<Byte> span, std::int64_t needed)
      : Operand(operand_name, span.bytes(), needed) {
    size = span.size();
    type = span.dtype();
  }

  std::string_view name;
  std::int64_t size;
  std::int64_t count;
  std::optional<DType> type;
  Access access;
};

// The count of an operand that may be left out.
template <class AnyOperand>
std::int64_t unless_empty(const AnyOperand& operand, std::int64_t count) {
  return operand.empty() ? 0 : count;
}

bool is_computed(DType type) { return type == DType::kFloat32 || type == DType::kBFloat16; }

// Adds the accesses of operands that fit; `type` is the type in which the operation computes.
void add(std::vector<Access>& accesses, std::initializer_list<Operand> operands,
         DType type = DType::kFloat32) {
  for (const Operand& operand : operands) {
    TANDEM_CHECK(operand.size == operand.count, "{} has {} elements where {} are needed",
                 operand.name, operand.size, operand.count);
    accesses.push_back(operand.access);
    if (operand.size == 0 || !operand.type) continue;
    TANDEM_CHECK(is_computed(*operand.type), "{} is {}", operand.name, name_of(*operand.type));
    TANDEM_CHECK(*operand.type == type, "{} is {} where {} is needed", operand.name,
                 name_of(*operand.type), name_of(type));
  }
}

std::vector<Access> checked(std::initializer_list<Operand> operands, DType type = DType::kFloat32) {
  std::vector<Access> accesses;
  accesses.reserve(operands.size() + 2);  // back ends add their scratch memory
  add(accesses, operands, type);
  return accesses;
}

constexpr std::int64_t kExact = 1 << 24;  // beyond this number, fp32 skips whole numbers

void check(const LinearShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.in > 0 && s.out > 0, "a linear layer of {} x {} -> {}", s.batch,
               s.in, s.out);
}

void check(const EmbeddingShape& s) {
  TANDEM_CHECK(
      s.rows > 0 && s.positions > 0 && s.rows % s.positions == 0 && s.vocabulary > 0 && s.width > 0,
      "{} tokens in samples of {}, of a table of {} x {}", s.rows, s.positions, s.vocabulary,
      s.width);
  TANDEM_CHECK(s.vocabulary <= kExact, "a table of {} tokens, whose ids fp32 cannot tell apart",
               s.vocabulary);
}

void check(const NormShape& s) {
  TANDEM_CHECK(s.rows > 0 && s.width > 0, "a normalisation of {} rows of {}", s.rows, s.width);
}

void check(const AttentionShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.positions > 0 && s.heads > 0 && s.head_width > 0,
               "attention of {} x {} positions in {} heads of {}", s.batch, s.positions, s.heads,
               s.head_width);
}

void check(const ConvolutionShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.height > 0 && s.width > 0 && s.in > 0 && s.out > 0,
               "a convolution of {} x {} x {} x {} -> {}", s.batch, s.height, s.width, s.in, s.out);
  TANDEM_CHECK(s.kernel > 0 && s.stride > 0 && s.padding >= 0 && s.padding < s.kernel,
               "a kernel of {} with stride {} and padding {}", s.kernel, s.stride, s.padding);
  TANDEM_CHECK(s.height + 2 * s.padding >= s.kernel && s.width + 2 * s.padding >= s.kernel,
               "a kernel of {} on {} x {} with padding {}", s.kernel, s.height, s.width, s.padding);
}

void check(const BatchNormShape& s) {
  TANDEM_CHECK(s.channels > 0, "a normalisation of {} channels", s.channels);
  TANDEM_CHECK(s.rows > 1,
               "batch normalisation of {} value per channel, of which there is no variance: use a "
               "larger batch",
               s.rows);
  TANDEM_CHECK(s.positions > 0 && s.rows % s.positions == 0, "{} rows of images of {} positions",
               s.rows, s.positions);
}

void check(const MaxPoolShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.height > 0 && s.width > 0 && s.channels > 0,
               "a pooling of {} x {} x {} x {}", s.batch, s.height, s.width, s.channels);
}

void check(const AveragePoolShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.positions > 0 && s.channels > 0, "the mean of {} x {} x {}",
               s.batch, s.positions, s.channels);
}

// Checks the operands of cross-entropy, a mean over the rows' losses.
void check_rows(std::int64_t classes, Span<const float> target) {
  TANDEM_CHECK(classes > 0 && !target.empty(), "the mean of {} rows of {} classes", target.size(),
               classes);
  TANDEM_CHECK(classes <= kExact, "{} classes, which fp32 cannot tell apart", classes);
}

}  // namespace

std::vector<Access> accesses(const LinearForward& op) {
  check(op.shape);
  const auto& [batch, in, out] = op.shape;
  return checked({{"x", op.x, batch * in},
                  {"weight", op.weight, out * in},
                  {"bias", op.bias, unless_empty(op.bias, out)},
                  {"y", op.y, batch * out},
                  {"before", op.before, op.activation == Activation::kGelu ? batch * out : 0}},
                 op.x.dtype());
}

std::vector<Access> accesses(const LinearBackwardInput& op) {
  check(op.shape);
  const auto& [batch, in, out] = op.shape;
  return checked(
      {{"dy", op.dy, batch * out}, {"weight", op.weight, out * in}, {"dx", op.dx, batch * in}},
      op.dy.dtype());
}

std::vector<Access> accesses(const LinearBackwardWeight& op) {
  check(op.shape);
  TANDEM_CHECK(op.padding == 0 || (op.padding > 0 && op.dbias.empty()),
               "{} columns of padding, beside dbias of {}", op.padding, op.dbias.size());
  const auto& [batch, in, out] = op.shape;
  return checked({{"x", op.x, batch * in},
                  {"dy", op.dy, batch * (out + op.padding)},
                  {"dweight", op.dweight, out * in},
                  {"dbias", op.dbias, unless_empty(op.dbias, out)}},
                 op.x.dtype());
}

std::vector<Access> accesses(const ReluBackward& op) {
  return checked({{"y", op.y, op.y.size()}, {"dy", op.dy, op.y.size()}}, op.y.dtype());
}

std::vector<Access> accesses(const GeluBackward& op) {
  const std::int64_t all = op.before.size();
  return checked({{"before", op.before, all}, {"dy", op.dy, all}}, op.before.dtype());
}

std::vector<Access> accesses(const EmbeddingForward& op) {
  check(op.shape);
  const auto& [rows, positions, vocabulary, width] = op.shape;
  return checked({{"ids", op.ids, rows},
                  {"tokens", op.tokens, vocabulary * width},
                  {"places", op.places, positions * width},
                  {"y", op.y, rows * width}});
}

std::vector<Access> accesses(const EmbeddingBackward& op) {
  check(op.shape);
  const auto& [rows, positions, vocabulary, width] = op.shape;
  return checked({{"ids", op.ids, rows},
                  {"dy", op.dy, rows * width},
                  {"dtokens", op.dtokens, vocabulary * width},
                  {"dplaces", op.dplaces, positions * width}});
}

std::vector<Access> accesses(const LayerNormForward& op) {
  check(op.shape);
  const auto& [rows, width] = op.shape;
  return checked({{"x", op.x, rows * width},
                  {"y", op.y, rows * width},
                  {"branch", op.branch, unless_empty(op.branch, rows * width)},
                  {"gain", op.gain, width},
                  {"bias", op.bias, width},
                  {"sum", op.sum, op.branch.size()},
                  {"mean", op.mean, rows},
                  {"rstd", op.rstd, rows}},
                 op.y.dtype());
}

std::vector<Access> accesses(const LayerNormBackward& op) {
  check(op.shape);
  const auto& [rows, width] = op.shape;
  return checked({{"dy", op.dy, rows * width},
                  {"sum", op.sum, rows * width},
                  {"gain", op.gain, width},
                  {"mean", op.mean, rows},
                  {"rstd", op.rstd, rows},
                  {"dabove", op.dabove, unless_empty(op.dabove, rows * width)},
                  {"dsum", op.dsum, rows * width},
                  {"dbranch", op.dbranch, unless_empty(op.dbranch, rows * width)},
                  {"dgain", op.dgain, width},
                  {"dbias", op.dbias, width}},
                 op.dy.dtype());
}

std::vector<Access> accesses(const AttentionForward& op) {
  const AttentionShape& s = op.shape;
  check(s);
  return checked({{"qkv", op.qkv, s.rows() * 3 * s.width()},
                  {"y", op.y, s.rows() * s.width()},
                  {"log_sums", op.log_sums, s.rows() * s.heads}},
                 op.qkv.dtype());
}

std::vector<Access> accesses(const AttentionBackward& op) {
  const AttentionShape& s = op.shape;
  check(s);
  return checked({{"qkv", op.qkv, s.rows() * 3 * s.width()},
                  {"y", op.y, s.rows() * s.width()},
                  {"dy", op.dy, s.rows() * s.width()},
                  {"log_sums", op.log_sums, s.rows() * s.heads},
                  {"dqkv", op.dqkv, s.rows() * 3 * s.width()}},
                 op.qkv.dtype());
}

std::vector<Access> accesses(const ConvolutionForward& op) {
  check(op.shape);
  return checked({{"x", op.x, op.shape.input_count()},
                  {"weight", op.weight, op.shape.weight_count()},
                  {"y", op.y, op.shape.output_count()}},
                 op.x.dtype());
}

std::vector<Access> accesses(const ConvolutionBackwardInput& op) {
  check(op.shape);
  return checked({{"dy", op.dy, op.shape.output_count()},
                  {"weight", op.weight, op.shape.weight_count()},
                  {"dx", op.dx, op.shape.input_count()}},
                 op.dy.dtype());
}

std::vector<Access> accesses(const ConvolutionBackwardWeight& op) {
  check(op.shape);
  return checked({{"x", op.x, op.shape.input_count()},
                  {"dy", op.dy, op.shape.output_count()},
                  {"dweight", op.dweight, op.shape.weight_count()}},
                 op.x.dtype());
}

std::vector<Access> accesses(const BatchNormForward& op) {
  check(op.shape);
  TANDEM_CHECK(op.activation != Activation::kGelu, "batch normalisation of {} rows with GELU",
               op.shape.rows);
  const auto& [rows, channels, positions] = op.shape;
  return checked({{"x", op.x, rows * channels},
                  {"residual", op.residual, unless_empty(op.residual, rows * channels)},
                  {"gain", op.gain, channels},
                  {"bias", op.bias, channels},
                  {"y", op.y, rows * channels},
                  {"running_mean", op.running_mean, channels},
                  {"running_variance", op.running_variance, channels},
                  {"mean", op.mean, channels},
                  {"rstd", op.rstd, channels}},
                 op.x.dtype());
}

std::vector<Access> accesses(const BatchNormBackward& op) {
  check(op.shape);
  TANDEM_CHECK(op.dresidual.empty() || op.dx.data() != op.dresidual.data(),
               "dx and dresidual, of {} elements, are one", op.dx.size());
  const auto& [rows, channels, positions] = op.shape;
  return checked({{"x", op.x, rows * channels},
                  {"y", op.y, unless_empty(op.y, rows * channels)},
                  {"dy", op.dy, rows * channels},
                  {"dabove", op.dabove, unless_empty(op.dabove, rows * channels)},
                  {"gain", op.gain, channels},
                  {"mean", op.mean, channels},
                  {"rstd", op.rstd, channels},
                  {"dx", op.dx, rows * channels},
                  {"dresidual", op.dresidual, unless_empty(op.dresidual, rows * channels)},
                  {"dgain", op.dgain, channels},
                  {"dbias", op.dbias, channels}},
                 op.x.dtype());
}

std::vector<Access> accesses(const MaxPoolForward& op) {
  check(op.shape);
  return checked({{"x", op.x, op.shape.input_count()}, {"y", op.y, op.shape.output_count()}},
                 op.x.dtype());
}

std::vector<Access> accesses(const MaxPoolBackward& op) {
  check(op.shape);
  const std::int64_t out = op.shape.output_count();
  return checked({{"x", op.x, op.shape.input_count()},
                  {"y", op.y, out},
                  {"dy", op.dy, out},
                  {"dabove", op.dabove, unless_empty(op.dabove, out)},
                  {"dx", op.dx, op.shape.input_count()}},
                 op.x.dtype());
}

std::vector<Access> accesses(const AveragePoolForward& op) {
  check(op.shape);
  const auto& [batch, positions, channels] = op.shape;
  return checked({{"x", op.x, batch * positions * channels}, {"y", op.y, batch * channels}},
                 op.x.dtype());
}

std::vector<Access> accesses(const AveragePoolBackward& op) {
  check(op.shape);
  const auto& [batch, positions, channels] = op.shape;
  return checked({{"dy", op.dy, batch * channels}, {"dx", op.dx, batch * positions * channels}},
                 op.dy.dtype());
}

std::vector<Access> accesses(const MseLoss& op) {
  const std::int64_t all = op.prediction.size();
  TANDEM_CHECK(all > 0, "the mean of {} elements", all);
  return checked({{"prediction", op.prediction, all},
                  {"target", op.target, all},
                  {"gradient", op.gradient, unless_empty(op.gradient, all)},
                  {"loss", op.loss, 1}});
}

std::vector<Access> accesses(const MseLossBackward& op) {
  const std::int64_t all = op.prediction.size();
  TANDEM_CHECK(all > 0, "the mean of {} elements", all);
  return checked({{"prediction", op.prediction, all},
                  {"target", op.target, all},
                  {"loss_gradient", op.loss_gradient, 1},
                  {"gradient", op.gradient, all}});
}

std::vector<Access> accesses(const CrossEntropyLoss& op) {
  check_rows(op.classes, op.target);
  const std::int64_t rows = op.target.size();
  return checked({{"prediction", op.prediction, rows * op.classes},
                  {"target", op.target, rows},
                  {"gradient", op.gradient, unless_empty(op.gradient, rows * op.classes)},
                  {"loss", op.loss, 1}});
}

std::vector<Access> accesses(const CrossEntropyLossBackward& op) {
  check_rows(op.classes, op.target);
  const std::int64_t rows = op.target.size();
  return checked({{"prediction", op.prediction, rows * op.classes},
                  {"target", op.target, rows},
                  {"loss_gradient", op.loss_gradient, 1},
                  {"gradient", op.gradient, rows * op.classes}});
}

std::vector<Access> accesses(const WeightedSum& op) {
  const std::int64_t all = op.values.size();
  return checked({{"values", op.values, all}, {"weights", op.weights, all}, {"sum", op.sum, 1}});
}

std::vector<Access> accesses(const SgdUpdate& op) {
  std::vector<Access> accesses;
  accesses.reserve(3 * op.tensors.size());
  for (const SgdUpdate::Tensor& t : op.tensors) {
    const std::int64_t all = t.gradient.size();
    add(accesses,
        {{"gradient", t.gradient, all}, {"velocity", t.velocity, all}, {"weight", t.weight, all}});
  }
  return accesses;
}

std::vector<Access> accesses(const AdamUpdate& op) {
  std::vector<Access> accesses;
  accesses.reserve(4 * op.tensors.size() + 1);
  add(accesses, {{"clock", op.clock, AdamClock::kFloats}});
  for (const AdamUpdate::Tensor& t : op.tensors) {
    const std::int64_t all = t.gradient.size();
    add(accesses, {{"gradient", t.gradient, all},
                   {"first", t.first, all},
                   {"second", t.second, all},
                   {"weight", t.weight, all}});
  }
  return accesses;
}

std::vector<Access> accesses(const FillRandom& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Fill& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Scale& op) {
  return checked({{"in", op.in, op.in.size()}, {"out", op.out, op.in.size()}});
}

std::vector<Access> accesses(const Add& op) {
  const std::int64_t all = op.a.size();
  return checked({{"a", op.a, all}, {"b", op.b, all}, {"sum", op.sum, all}});
}

std::vector<Access> accesses(const AddScalar& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Subtract& op) {
  const std::int64_t all = op.a.size();
  return checked({{"a", op.a, all}, {"b", op.b, all}, {"difference", op.difference, all}});
}

std::vector<Access> accesses(const Convert& op) {
  TANDEM_CHECK((op.in.dtype() == DType::kFloat32) != (op.out.dtype() == DType::kFloat32),
               "a conversion of {} to {}", name_of(op.in.dtype()), name_of(op.out.dtype()));
  const bool narrows = op.in.dtype() == DType::kFloat32;
  const std::int64_t wide = (narrows ? op.in : ConstAnySpan(op.out)).size();
  const std::int64_t rows = op.padding > 0 && op.columns > 0 ? wide / op.columns : 0;
  TANDEM_CHECK(rows * op.columns == (op.padding == 0 ? 0 : wide), "{} elements in rows of {}", wide,
               op.columns);
  const std::int64_t needed = op.in.size() + (narrows ? rows : -rows) * op.padding;
  TANDEM_CHECK(op.out.size() == needed, "out has {} elements where {} are needed", op.out.size(),
               needed);
  return {reads(op.in.bytes()), writes(op.out.bytes())};
}

std::vector<Access> accesses(const Orthogonalise& op) {
  TANDEM_CHECK(op.rows > 0 && op.matrix.size() % op.rows == 0, "{} rows of {} elements in all",
               op.rows, op.matrix.size());
  const std::int64_t columns = op.matrix.size() / op.rows;
  TANDEM_CHECK(op.rows <= columns, "{} rows of {} elements cannot be orthogonal", op.rows, columns);
  return {writes(op.matrix)};
}

}  // namespace tandem
