// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/half.h"

namespace tandem {

// The stored types of a tensor's elements.
enum class DType { kFloat32, kBFloat16, kFloat16 };

[[nodiscard]] constexpr std::int64_t size_of(DType type) { return type == DType::kFloat32 ? 4 : 2; }

// The type's name: "fp32", "bf16", "fp16".
[[nodiscard]] constexpr std::string_view name_of(DType type) {
  switch (type) {
    case DType::kFloat32:
      return "fp32";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat16:
      return "fp16";
  }
  return "";
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBFloat16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::kFloat16;
};

}  // namespace tandem
