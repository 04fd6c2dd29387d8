// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/operations.h"

namespace tandem {

namespace {

constexpr std::int64_t kExact = 1 << 24;  // beyond this number, fp32 skips whole numbers

bool is_computed(DType type) { return type == DType::kFloat32 || type == DType::kBFloat16; }

}  // namespace

void add_checked(std::vector<Access>& accesses, std::initializer_list<Operand> operands,
                 DType type) {
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

std::vector<Access> checked(std::initializer_list<Operand> operands, DType type) {
  std::vector<Access> accesses;
  accesses.reserve(operands.size() + 2);
  add_checked(accesses, operands, type);
  return accesses;
}

void check(const LinearShape& s) {
  TANDEM_CHECK(s.batch > 0 && s.in > 0 && s.out > 0, "a linear layer of {} x {} -> {}", s.batch,
               s.in, s.out);
}

void check(const EmbeddingShape& s) {
  TANDEM_CHECK(
      s.rows > 0 && s.positions > 0 && s.rows % s.positions == 0 && s.vocabulary > 0 && s.width > 0,
      "{} tokens in samples of {}, of a table of {} x {}", s.rows, s.positions, s.vocabulary,
      s.width);
  TANDEM_CHECK(s.vocabulary <= kExact, "a table of {} tokens, whose ids fp32 cannot represent",
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

void check_rows(std::int64_t classes, std::int64_t padding, Span<const float> target) {
  TANDEM_CHECK(classes > 0 && padding >= 0 && !target.empty(),
               "the mean of {} rows of {} classes and {} of padding", target.size(), classes,
               padding);
  TANDEM_CHECK(classes <= kExact, "{} classes, which fp32 cannot represent", classes);
}

}  // namespace tandem
