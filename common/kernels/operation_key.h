// SPDX-License-Identifier: Apache-2.0
//
// By what an operation of a step is known again in a step of another batch: its name, its shape
// without the batch, and which of its operands it has.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "common/kernels/operation_work.h"

namespace tandem {

[[nodiscard]] inline std::string sizes_in_key(const LinearShape& shape) {
  return fmt::format(" {}x{}", shape.in, shape.out);
}
[[nodiscard]] inline std::string sizes_in_key(const EmbeddingShape& shape) {
  return fmt::format(" {}x{}x{}", shape.vocabulary, shape.positions, shape.width);
}
[[nodiscard]] inline std::string sizes_in_key(const NormShape& shape) {
  return fmt::format(" {}", shape.width);
}
[[nodiscard]] inline std::string sizes_in_key(const AttentionShape& shape) {
  return fmt::format(" {}x{}x{}", shape.positions, shape.heads, shape.head_width);
}
[[nodiscard]] inline std::string sizes_in_key(const ConvolutionShape& shape) {
  return fmt::format(" {}x{}x{} to {} kernel {} stride {} padding {}", shape.height, shape.width,
                     shape.in, shape.out, shape.kernel, shape.stride, shape.padding);
}
[[nodiscard]] inline std::string sizes_in_key(const BatchNormShape& shape) {
  return fmt::format(" {}x{}", shape.positions, shape.channels);
}
[[nodiscard]] inline std::string sizes_in_key(const MaxPoolShape& shape) {
  return fmt::format(" {}x{}x{}", shape.height, shape.width, shape.channels);
}
[[nodiscard]] inline std::string sizes_in_key(const AveragePoolShape& shape) {
  return fmt::format(" {}x{}", shape.positions, shape.channels);
}

// The key of an operation of this name: "linear_forward 784x512 relu, 4 operands". Operations on
// lists take any number of tensors, and operations without a shape any size, so that their names
// say all.
template <class Op>
[[nodiscard]] std::string key_of(const Op& op, std::string_view name) {
  std::string key(name);
  if constexpr (requires { sizes_in_key(op.shape); }) key += sizes_in_key(op.shape);
  if constexpr (requires { op.classes; }) key += fmt::format(" {}", op.classes);
  if constexpr (requires { op.prediction; }) {
    if (op.prediction.dtype() != DType::kFloat32)
      key += fmt::format(" in {}", name_of(op.prediction.dtype()));
  }
  if constexpr (requires { op.activation; }) {
    if (op.activation == Activation::kRelu) key += " relu";
    if (op.activation == Activation::kGelu) key += " gelu";
  }
  if constexpr (!requires { op.tensors; }) {
    const auto operands = op.accesses();
    const auto given =
        std::ranges::count_if(operands, [](const Access& a) { return a.size.value > 0; });
    key += fmt::format(", {} operands", given);
  }
  return key;
}

}  // namespace tandem
