// SPDX-License-Identifier: Apache-2.0
//
// What the mangled name of one of torch's kernels says: templates, functors and types.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tandem::pretend::torch_kernels {

// The types that are computed; floats are compared and become flags, no more. kNone: any other.
enum class Type : uint8_t { kNone, kBool, kU8, kI8, kI16, kI32, kI64, kF32, kF64 };

[[nodiscard]] constexpr bool is_float(Type type) {
  return type == Type::kF32 || type == Type::kF64;
}

// The integer by the letter that stands for the type in a mangled name.
[[nodiscard]] constexpr Type type_of(char letter) {
  switch (letter) {
    case 'b':
      return Type::kBool;
    case 'h':
      return Type::kU8;
    case 'a':
      return Type::kI8;
    case 's':
      return Type::kI16;
    case 'i':
      return Type::kI32;
    case 'l':
      return Type::kI64;
    default:
      return Type::kNone;
  }
}

[[nodiscard]] constexpr uint64_t size_of(Type type) {
  constexpr uint64_t kSizes[] = {0, 1, 1, 1, 2, 4, 8, 4, 8};
  return kSizes[static_cast<size_t>(type)];
}

// Calls `then` with a value of the C++ type.
template <typename Then>
void with_type(Type type, const Then& then) {
  switch (type) {
    case Type::kNone:
      return;
    case Type::kBool:
      return then(bool{});
    case Type::kU8:
      return then(uint8_t{});
    case Type::kI8:
      return then(int8_t{});
    case Type::kI16:
      return then(int16_t{});
    case Type::kI32:
      return then(int32_t{});
    case Type::kI64:
      return then(int64_t{});
    case Type::kF32:
      return then(float{});
    case Type::kF64:
      return then(double{});
  }
}

// What follows `token` in the name; empty where the name has no such token.
[[nodiscard]] inline std::string_view behind(std::string_view name, std::string_view token) {
  const size_t at = name.find(token);
  return at == std::string_view::npos ? std::string_view{} : name.substr(at + token.size());
}

[[nodiscard]] inline bool has(std::string_view name, std::string_view token) {
  return name.find(token) != std::string_view::npos;
}

// "lb" of a lambda (long, bool): the first one in the name that takes arguments of built-in types.
[[nodiscard]] inline std::string_view lambda_arguments(std::string_view name) {
  const std::string_view after = behind(name, "EUl");
  return after.substr(0, after.find('E'));
}

}  // namespace tandem::pretend::torch_kernels
