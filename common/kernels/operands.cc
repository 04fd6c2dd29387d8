// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/operands.h"

namespace tandem {

namespace {

void check_shape(const LinearShape& shape) {
  TANDEM_CHECK(shape.batch > 0 && shape.in > 0 && shape.out > 0, "a linear layer of {} x {} -> {}",
               shape.batch, shape.in, shape.out);
}

// Checks the operands of cross-entropy, a mean over the rows' losses.
void check_rows(std::int64_t classes, Span<const float> prediction, Span<const float> target) {
  TANDEM_CHECK(classes > 0 && !target.empty(), "the mean of {} rows of {} classes", target.size(),
               classes);
  constexpr std::int64_t kExact = 1 << 24;  // beyond this number, fp32 skips whole numbers
  TANDEM_CHECK(classes <= kExact, "{} classes, which fp32 cannot tell apart", classes);
  check_count(prediction, target.size() * classes, "prediction");
}

}  // namespace

void check_sizes(const LinearForward& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.batch * op.shape.in, "x");
  check_count(op.weight, op.shape.out * op.shape.in, "weight");
  check_optional(op.bias, op.shape.out, "bias");
  check_count(op.y, op.shape.batch * op.shape.out, "y");
  check_computes(op.x.dtype(), "x");
  check_type(op.weight, op.x.dtype(), "weight");
  check_type(op.bias, op.x.dtype(), "bias");
  check_type(op.y, op.x.dtype(), "y");
  check_count(op.before, op.activation == Activation::kGelu ? op.y.size() : 0, "before");
  check_type(op.before, op.x.dtype(), "before");
}

void check_sizes(const LinearBackwardInput& op) {
  check_shape(op.shape);
  check_count(op.dy, op.shape.batch * op.shape.out, "dy");
  check_count(op.weight, op.shape.out * op.shape.in, "weight");
  check_count(op.dx, op.shape.batch * op.shape.in, "dx");
  check_computes(op.dy.dtype(), "dy");
  check_type(op.weight, op.dy.dtype(), "weight");
  check_type(op.dx, op.dy.dtype(), "dx");
}

void check_sizes(const LinearBackwardWeight& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.batch * op.shape.in, "x");
  check_count(op.dy, op.shape.batch * op.shape.out, "dy");
  check_count(op.dweight, op.shape.out * op.shape.in, "dweight");
  check_optional(op.dbias, op.shape.out, "dbias");
  check_computes(op.x.dtype(), "x");
  check_type(op.dy, op.x.dtype(), "dy");
}

void check_sizes(const ReluBackward& op) {
  check_count(op.dy, op.y.size(), "dy");
  check_computes(op.y.dtype(), "y");
  check_type(op.dy, op.y.dtype(), "dy");
}

void check_sizes(const GeluBackward& op) {
  check_count(op.dy, op.before.size(), "dy");
  check_computes(op.before.dtype(), "before");
  check_type(op.dy, op.before.dtype(), "dy");
}

void check_sizes(const MseLoss& op) {
  TANDEM_CHECK(!op.prediction.empty(), "the mean of {} elements", op.prediction.size());
  check_count(op.target, op.prediction.size(), "target");
  check_optional(op.gradient, op.prediction.size(), "gradient");
  check_count(op.loss, 1, "loss");
}

void check_sizes(const MseLossBackward& op) {
  TANDEM_CHECK(!op.prediction.empty(), "the mean of {} elements", op.prediction.size());
  check_count(op.target, op.prediction.size(), "target");
  check_count(op.loss_gradient, 1, "loss_gradient");
  check_count(op.gradient, op.prediction.size(), "gradient");
}

void check_sizes(const CrossEntropyLoss& op) {
  check_rows(op.classes, op.prediction, op.target);
  check_optional(op.gradient, op.prediction.size(), "gradient");
  check_count(op.loss, 1, "loss");
}

void check_sizes(const CrossEntropyLossBackward& op) {
  check_rows(op.classes, op.prediction, op.target);
  check_count(op.loss_gradient, 1, "loss_gradient");
  check_count(op.gradient, op.prediction.size(), "gradient");
}

void check_sizes(const WeightedSum& op) {
  check_count(op.weights, op.values.size(), "weights");
  check_count(op.sum, 1, "sum");
}

void check_sizes(const SgdUpdate& op) {
  check_count(op.velocity, op.gradient.size(), "velocity");
  check_count(op.weight, op.gradient.size(), "weight");
}

void check_sizes(const AdamUpdate& op) {
  TANDEM_CHECK(op.step >= 1, "Adam's steps count from 1, this is step {}", op.step);
  check_count(op.first, op.gradient.size(), "first");
  check_count(op.second, op.gradient.size(), "second");
  check_count(op.weight, op.gradient.size(), "weight");
}

void check_sizes(const FillRandom& /*op*/) {}

void check_sizes(const Fill& /*op*/) {}

void check_sizes(const Scale& op) { check_count(op.out, op.in.size(), "out"); }

void check_sizes(const Add& op) {
  check_count(op.b, op.a.size(), "b");
  check_count(op.sum, op.a.size(), "sum");
}

void check_sizes(const AddScalar& /*op*/) {}

void check_sizes(const Subtract& op) {
  check_count(op.b, op.a.size(), "b");
  check_count(op.difference, op.a.size(), "difference");
}

void check_sizes(const Convert& op) {
  check_count(op.out, op.in.size(), "out");
  TANDEM_CHECK((op.in.dtype() == DType::kFloat32) != (op.out.dtype() == DType::kFloat32),
               "a conversion of {} to {}", name_of(op.in.dtype()), name_of(op.out.dtype()));
}

void check_sizes(const Orthogonalise& op) {
  TANDEM_CHECK(op.rows > 0 && op.matrix.size() % op.rows == 0, "{} rows of {} elements in all",
               op.rows, op.matrix.size());
  const std::int64_t columns = op.matrix.size() / op.rows;
  TANDEM_CHECK(op.rows <= columns, "{} rows of {} elements cannot be orthogonal", op.rows, columns);
}

std::vector<Access> accesses(const LinearForward& op) {
  return {reads(op.x.bytes()), reads(op.weight.bytes()), reads(op.bias.bytes()),
          writes(op.y.bytes()), writes(op.before.bytes())};
}

std::vector<Access> accesses(const LinearBackwardInput& op) {
  return {reads(op.dy.bytes()), reads(op.weight.bytes()), writes(op.dx.bytes())};
}

std::vector<Access> accesses(const LinearBackwardWeight& op) {
  return {reads(op.x.bytes()), reads(op.dy.bytes()), writes(op.dweight), writes(op.dbias)};
}

std::vector<Access> accesses(const ReluBackward& op) {
  return {reads(op.y.bytes()), writes(op.dy.bytes())};
}

std::vector<Access> accesses(const GeluBackward& op) {
  return {reads(op.before.bytes()), writes(op.dy.bytes())};
}

std::vector<Access> accesses(const MseLoss& op) {
  return {reads(op.prediction), reads(op.target), writes(op.gradient), writes(op.loss)};
}

std::vector<Access> accesses(const MseLossBackward& op) {
  return {reads(op.prediction), reads(op.target), reads(op.loss_gradient), writes(op.gradient)};
}

std::vector<Access> accesses(const CrossEntropyLoss& op) {
  return {reads(op.prediction), reads(op.target), writes(op.gradient), writes(op.loss)};
}

std::vector<Access> accesses(const CrossEntropyLossBackward& op) {
  return {reads(op.prediction), reads(op.target), reads(op.loss_gradient), writes(op.gradient)};
}

std::vector<Access> accesses(const WeightedSum& op) {
  return {reads(op.values), reads(op.weights), writes(op.sum)};
}

std::vector<Access> accesses(const SgdUpdate& op) {
  return {reads(op.gradient), writes(op.velocity), writes(op.weight)};
}

std::vector<Access> accesses(const AdamUpdate& op) {
  return {reads(op.gradient), writes(op.first), writes(op.second), writes(op.weight)};
}

std::vector<Access> accesses(const FillRandom& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Fill& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Scale& op) { return {reads(op.in), writes(op.out)}; }

std::vector<Access> accesses(const Add& op) { return {reads(op.a), reads(op.b), writes(op.sum)}; }

std::vector<Access> accesses(const AddScalar& op) { return {writes(op.values)}; }

std::vector<Access> accesses(const Subtract& op) {
  return {reads(op.a), reads(op.b), writes(op.difference)};
}

std::vector<Access> accesses(const Convert& op) {
  return {reads(op.in.bytes()), writes(op.out.bytes())};
}

std::vector<Access> accesses(const Orthogonalise& op) { return {writes(op.matrix)}; }

}  // namespace tandem
