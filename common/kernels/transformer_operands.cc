// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/operands.h"

namespace tandem {
namespace {

void check_shape(const EmbeddingShape& s) {
  TANDEM_CHECK(
      s.rows > 0 && s.positions > 0 && s.rows % s.positions == 0 && s.vocabulary > 0 && s.width > 0,
      "{} tokens in samples of {}, of a table of {} x {}", s.rows, s.positions, s.vocabulary,
      s.width);
  constexpr std::int64_t kExact = 1 << 24;  // beyond this number, fp32 skips whole numbers
  TANDEM_CHECK(s.vocabulary <= kExact, "a table of {} tokens, whose ids fp32 cannot tell apart",
               s.vocabulary);
}

void check_shape(const NormShape& s) {
  TANDEM_CHECK(s.rows > 0 && s.width > 0, "a normalisation of {} rows of {}", s.rows, s.width);
}

void check_shape(const AttentionShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.positions > 0 && s.heads > 0 && s.head_width > 0,
               "attention of {} x {} positions in {} heads of {}", s.batch, s.positions, s.heads,
               s.head_width);
}

}  // namespace

void check_sizes(const EmbeddingForward& op) {
  const EmbeddingShape& s = op.shape;
  check_shape(s);
  check_count(op.ids, s.rows, "ids");
  check_count(op.tokens, s.vocabulary * s.width, "tokens");
  check_count(op.places, s.positions * s.width, "places");
  check_count(op.y, s.rows * s.width, "y");
}

void check_sizes(const EmbeddingBackward& op) {
  const EmbeddingShape& s = op.shape;
  check_shape(s);
  check_count(op.ids, s.rows, "ids");
  check_count(op.dy, s.rows * s.width, "dy");
  check_count(op.dtokens, s.vocabulary * s.width, "dtokens");
  check_count(op.dplaces, s.positions * s.width, "dplaces");
}

void check_sizes(const LayerNormForward& op) {
  check_shape(op.shape);
  const std::int64_t all = op.shape.rows * op.shape.width;
  check_count(op.x, all, "x");
  check_optional(op.branch, all, "branch");
  check_count(op.gain, op.shape.width, "gain");
  check_count(op.bias, op.shape.width, "bias");
  check_count(op.sum, op.branch.size(), "sum");
  check_count(op.y, all, "y");
  check_count(op.mean, op.shape.rows, "mean");
  check_count(op.rstd, op.shape.rows, "rstd");
  check_computes(op.y.dtype(), "y");
  check_type(op.branch, op.y.dtype(), "branch");
}

void check_sizes(const LayerNormBackward& op) {
  check_shape(op.shape);
  const std::int64_t all = op.shape.rows * op.shape.width;
  check_count(op.dy, all, "dy");
  check_count(op.sum, all, "sum");
  check_count(op.gain, op.shape.width, "gain");
  check_count(op.mean, op.shape.rows, "mean");
  check_count(op.rstd, op.shape.rows, "rstd");
  check_optional(op.dabove, all, "dabove");
  check_count(op.dsum, all, "dsum");
  check_optional(op.dbranch, all, "dbranch");
  check_count(op.dgain, op.shape.width, "dgain");
  check_count(op.dbias, op.shape.width, "dbias");
  check_computes(op.dy.dtype(), "dy");
  check_type(op.dbranch, op.dy.dtype(), "dbranch");
}

void check_sizes(const AttentionForward& op) {
  const AttentionShape& s = op.shape;
  check_shape(s);
  check_count(op.qkv, s.rows() * 3 * s.width(), "qkv");
  check_count(op.y, s.rows() * s.width(), "y");
  check_count(op.log_sums, s.rows() * s.heads, "log_sums");
  check_computes(op.qkv.dtype(), "qkv");
  check_type(op.y, op.qkv.dtype(), "y");
}

void check_sizes(const AttentionBackward& op) {
  const AttentionShape& s = op.shape;
  check_shape(s);
  check_count(op.qkv, s.rows() * 3 * s.width(), "qkv");
  check_count(op.y, s.rows() * s.width(), "y");
  check_count(op.dy, s.rows() * s.width(), "dy");
  check_count(op.log_sums, s.rows() * s.heads, "log_sums");
  check_count(op.dqkv, op.qkv.size(), "dqkv");
  check_computes(op.qkv.dtype(), "qkv");
  check_type(op.y, op.qkv.dtype(), "y");
  check_type(op.dy, op.qkv.dtype(), "dy");
  check_type(op.dqkv, op.qkv.dtype(), "dqkv");
}

std::vector<Access> accesses(const EmbeddingForward& op) {
  return {reads(op.ids), reads(op.tokens), reads(op.places), writes(op.y)};
}

std::vector<Access> accesses(const EmbeddingBackward& op) {
  return {reads(op.ids), reads(op.dy), writes(op.dtokens), writes(op.dplaces)};
}

std::vector<Access> accesses(const LayerNormForward& op) {
  return {reads(op.x),    reads(op.branch.bytes()), reads(op.gain),  reads(op.bias),
          writes(op.sum), writes(op.y.bytes()),     writes(op.mean), writes(op.rstd)};
}

std::vector<Access> accesses(const LayerNormBackward& op) {
  return {reads(op.dy.bytes()), reads(op.sum),    reads(op.gain),  reads(op.mean),
          reads(op.rstd),       reads(op.dabove), writes(op.dsum), writes(op.dbranch.bytes()),
          writes(op.dgain),     writes(op.dbias)};
}

std::vector<Access> accesses(const AttentionForward& op) {
  return {reads(op.qkv.bytes()), writes(op.y.bytes()), writes(op.log_sums)};
}

std::vector<Access> accesses(const AttentionBackward& op) {
  return {reads(op.qkv.bytes()), reads(op.y.bytes()), reads(op.dy.bytes()), reads(op.log_sums),
          writes(op.dqkv.bytes())};
}

}  // namespace tandem
