// SPDX-License-Identifier: Apache-2.0
//
// The checks that check_sizes() of every operation consists of. Each check throws a logic error
// that names the operand.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/runtime/span.h"

namespace tandem {

template <class Operand>
void check_count(const Operand& operand, std::int64_t expected, std::string_view name) {
  TANDEM_CHECK(operand.size() == expected, "{} has {} elements where {} are needed", name,
               operand.size(), expected);
}

// Checks the count of an operand that may be left out.
template <class Operand>
void check_optional(const Operand& operand, std::int64_t expected, std::string_view name) {
  if (!operand.empty()) check_count(operand, expected, name);
}

// Checks that operations compute on this type.
inline void check_computes(DType type, std::string_view name) {
  TANDEM_CHECK(type == DType::kFloat32 || type == DType::kBFloat16, "{} is {}", name,
               name_of(type));
}

inline void check_type(ConstAnySpan operand, DType expected, std::string_view name) {
  TANDEM_CHECK(operand.empty() || operand.dtype() == expected, "{} is {} where {} is needed", name,
               name_of(operand.dtype()), name_of(expected));
}

}  // namespace tandem
