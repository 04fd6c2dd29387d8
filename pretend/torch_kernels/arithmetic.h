// SPDX-License-Identifier: Apache-2.0
//
// The operations of torch's element-wise kernels on integers, on columns of values. All types are
// computed as int64_t and cut to theirs where they are stored, which has the same result.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "pretend/torch_kernels/name.h"

namespace tandem::pretend::torch_kernels {

inline constexpr size_t kColumn = 256;
using Column = std::array<int64_t, kColumn>;

enum class Arithmetic : uint8_t {
  kCopy,
  kNegate,
  kAbsolute,
  kLogicalNot,
  kBitwiseNot,
  kAdd,  // the third operand times the second
  kMultiply,
  kDivideFloor,
  kDivideTruncated,
  kRemainder,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kMaximum,
  kMinimum,
  kEqual,  // or not, by the mode
  kOrder,
  kClamp,
  kWhere,
  kMaskedFill,
};

// The type of a functor's result, by the types in its name.
enum class Gives : uint8_t { kFirst, kSecond, kBool };

// A functor of torch's: `token` is part of its mangled name. `operands` are those of the operation
// in order, each "x" a tensor's or "k" one that the functor keeps. A functor keeps its mode, an
// int, before its constants.
struct Functor {
  std::string_view token;
  Arithmetic operation;
  std::string_view operands;
  Gives gives = Gives::kFirst;
  bool has_mode = false;
};

// nullptr where the name has none.
[[nodiscard]] const Functor* functor_of(std::string_view name);

// NaN of an operand in a column is this less the operand's number: no other is equal.
inline constexpr int64_t kNan = std::numeric_limits<int64_t>::max();

// The value in a column. Floats have an integer each, in their order, and 0 has 0.
template <typename Value>
[[nodiscard]] int64_t in_column(Value value, size_t operand) {
  if constexpr (std::is_floating_point_v<Value>) {
    const auto bits = std::bit_cast<int64_t>(static_cast<double>(value));
    return std::isnan(value) ? kNan - static_cast<int64_t>(operand)
           : bits < 0        ? std::numeric_limits<int64_t>::min() - bits
                             : bits;
  } else {
    return static_cast<int64_t>(value);
  }
}

// What the functor of a launch keeps.
struct Kept {
  int mode = 0;
  std::array<int64_t, 3> constants{};
  uint64_t bytes = 0;  // of the functor
};

// `inner` is what a functor within the functor takes before the constants.
[[nodiscard]] Kept read_kept(const char* from, const Functor& functor, std::string_view operands,
                             Type type, uint64_t inner);

// The first `count` values of `to`.
void apply(Arithmetic operation, int mode, const std::array<Column, 3>& of, size_t count,
           Column& to);

}  // namespace tandem::pretend::torch_kernels
