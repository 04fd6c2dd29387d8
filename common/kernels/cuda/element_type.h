// SPDX-License-Identifier: Apache-2.0
//
// From operands whose type is known at run time to kernels made for fp32 and bf16.
#pragma once

#include <cstddef>

#include "common/base/dtype.h"
#include "common/base/half.h"

namespace tandem::cuda {

// Calls `body` with a value of the element type, fp32 or bf16.
template <class Body>
auto with_type(DType type, const Body& body) {
  return type == DType::kBFloat16 ? body(BFloat16{}) : body(float{});
}

template <class T>
[[nodiscard]] T* as(std::byte* data) {
  return reinterpret_cast<T*>(data);
}
template <class T>
[[nodiscard]] const T* as(const std::byte* data) {
  return reinterpret_cast<const T*>(data);
}

}  // namespace tandem::cuda
