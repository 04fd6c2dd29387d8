// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/image_operands.h"

#include "common/kernels/operands.h"

namespace tandem {
namespace {

void check_shape(const ConvolutionShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.height > 0 && s.width > 0 && s.in > 0 && s.out > 0,
               "a convolution of {} x {} x {} x {} -> {}", s.batch, s.height, s.width, s.in, s.out);
  TANDEM_CHECK(s.kernel > 0 && s.stride > 0 && s.padding >= 0 && s.padding < s.kernel,
               "a kernel of {} with stride {} and padding {}", s.kernel, s.stride, s.padding);
  TANDEM_CHECK(s.height + 2 * s.padding >= s.kernel && s.width + 2 * s.padding >= s.kernel,
               "a kernel of {} on {} x {} with padding {}", s.kernel, s.height, s.width, s.padding);
}

void check_shape(const BatchNormShape& s) {
  TANDEM_CHECK(s.channels > 0, "a normalisation of {} channels", s.channels);
  TANDEM_CHECK(s.rows > 1,
               "batch normalisation of {} value per channel, of which there is no variance: use a "
               "larger batch",
               s.rows);
}

void check_shape(const MaxPoolShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.height > 0 && s.width > 0 && s.channels > 0,
               "a pooling of {} x {} x {} x {}", s.batch, s.height, s.width, s.channels);
}

void check_shape(const AveragePoolShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.positions > 0 && s.channels > 0, "the mean of {} x {} x {}",
               s.batch, s.positions, s.channels);
}

void check_same_type(DType type, std::initializer_list<ConstAnySpan> others) {
  check_computes(type, "an operand");
  for (const ConstAnySpan& other : others) check_type(other, type, "an operand");
}

}  // namespace

void check_sizes(const ConvolutionForward& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.input_count(), "x");
  check_count(op.weight, op.shape.weight_count(), "weight");
  check_count(op.y, op.shape.output_count(), "y");
  check_same_type(op.x.dtype(), {op.weight, op.y});
}

void check_sizes(const ConvolutionBackwardInput& op) {
  check_shape(op.shape);
  check_count(op.dy, op.shape.output_count(), "dy");
  check_count(op.weight, op.shape.weight_count(), "weight");
  check_count(op.dx, op.shape.input_count(), "dx");
  check_same_type(op.dy.dtype(), {op.weight, op.dx});
}

void check_sizes(const ConvolutionBackwardWeight& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.input_count(), "x");
  check_count(op.dy, op.shape.output_count(), "dy");
  check_count(op.dweight, op.shape.weight_count(), "dweight");
  check_same_type(op.x.dtype(), {op.dy});
}

void check_sizes(const BatchNormForward& op) {
  check_shape(op.shape);
  const std::int64_t all = op.shape.rows * op.shape.channels;
  check_count(op.x, all, "x");
  check_optional(op.residual, all, "residual");
  check_count(op.y, all, "y");
  check_count(op.gain, op.shape.channels, "gain");
  check_count(op.bias, op.shape.channels, "bias");
  check_count(op.running_mean, op.shape.channels, "running_mean");
  check_count(op.running_variance, op.shape.channels, "running_variance");
  check_count(op.mean, op.shape.channels, "mean");
  check_count(op.rstd, op.shape.channels, "rstd");
  check_same_type(op.x.dtype(), {op.residual, op.y});
  TANDEM_CHECK(op.activation != Activation::kGelu, "batch normalisation of {} rows with GELU",
               op.shape.rows);
}

void check_sizes(const BatchNormBackward& op) {
  check_shape(op.shape);
  const std::int64_t all = op.shape.rows * op.shape.channels;
  check_count(op.x, all, "x");
  check_optional(op.y, all, "y");
  check_count(op.dy, all, "dy");
  check_optional(op.dabove, all, "dabove");
  check_count(op.dx, all, "dx");
  check_optional(op.dresidual, all, "dresidual");
  check_count(op.gain, op.shape.channels, "gain");
  check_count(op.mean, op.shape.channels, "mean");
  check_count(op.rstd, op.shape.channels, "rstd");
  check_count(op.dgain, op.shape.channels, "dgain");
  check_count(op.dbias, op.shape.channels, "dbias");
  check_same_type(op.x.dtype(), {op.y, op.dy, op.dabove, op.dx, op.dresidual});
  TANDEM_CHECK(op.dx.data() != op.dresidual.data(), "dx and dresidual, of {} elements, are one",
               op.dx.size());
}

void check_sizes(const MaxPoolForward& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.input_count(), "x");
  check_count(op.y, op.shape.output_count(), "y");
  check_same_type(op.x.dtype(), {op.y});
}

void check_sizes(const MaxPoolBackward& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.input_count(), "x");
  check_count(op.y, op.shape.output_count(), "y");
  check_count(op.dy, op.shape.output_count(), "dy");
  check_optional(op.dabove, op.shape.output_count(), "dabove");
  check_count(op.dx, op.shape.input_count(), "dx");
  check_same_type(op.x.dtype(), {op.y, op.dy, op.dabove, op.dx});
}

void check_sizes(const AveragePoolForward& op) {
  check_shape(op.shape);
  check_count(op.x, op.shape.batch * op.shape.positions * op.shape.channels, "x");
  check_count(op.y, op.shape.batch * op.shape.channels, "y");
  check_same_type(op.x.dtype(), {op.y});
}

void check_sizes(const AveragePoolBackward& op) {
  check_shape(op.shape);
  check_count(op.dy, op.shape.batch * op.shape.channels, "dy");
  check_count(op.dx, op.shape.batch * op.shape.positions * op.shape.channels, "dx");
  check_same_type(op.dy.dtype(), {op.dx});
}

std::vector<Access> accesses(const ConvolutionForward& op) {
  return {reads(op.x.bytes()), reads(op.weight.bytes()), writes(op.y.bytes())};
}

std::vector<Access> accesses(const ConvolutionBackwardInput& op) {
  return {reads(op.dy.bytes()), reads(op.weight.bytes()), writes(op.dx.bytes())};
}

std::vector<Access> accesses(const ConvolutionBackwardWeight& op) {
  return {reads(op.x.bytes()), reads(op.dy.bytes()), writes(op.dweight)};
}

std::vector<Access> accesses(const BatchNormForward& op) {
  return {reads(op.x.bytes()),
          reads(op.residual.bytes()),
          reads(op.gain),
          reads(op.bias),
          writes(op.y.bytes()),
          writes(op.running_mean),
          writes(op.running_variance),
          writes(op.mean),
          writes(op.rstd)};
}

std::vector<Access> accesses(const BatchNormBackward& op) {
  return {reads(op.x.bytes()),      reads(op.y.bytes()),   reads(op.dy.bytes()),
          reads(op.dabove.bytes()), reads(op.gain),        reads(op.mean),
          reads(op.rstd),           writes(op.dx.bytes()), writes(op.dresidual.bytes()),
          writes(op.dgain),         writes(op.dbias)};
}

std::vector<Access> accesses(const MaxPoolForward& op) {
  return {reads(op.x.bytes()), writes(op.y.bytes())};
}

std::vector<Access> accesses(const MaxPoolBackward& op) {
  return {reads(op.x.bytes()), reads(op.y.bytes()), reads(op.dy.bytes()), reads(op.dabove.bytes()),
          writes(op.dx.bytes())};
}

std::vector<Access> accesses(const AveragePoolForward& op) {
  return {reads(op.x.bytes()), writes(op.y.bytes())};
}

std::vector<Access> accesses(const AveragePoolBackward& op) {
  return {reads(op.dy.bytes()), writes(op.dx.bytes())};
}

}  // namespace tandem
