// SPDX-License-Identifier: Apache-2.0
//
// Each library numbers element types in its own way: from those to the log's.
#pragma once

#include "pretend/core/record.h"

namespace tandem::pretend::abi {

// cudaDataType, of cuBLAS and cuBLASLt.
[[nodiscard]] constexpr ElementType from_cuda(int type) {
  switch (type) {
    case 0:
      return ElementType::kF32;
    case 1:
      return ElementType::kF64;
    case 2:
      return ElementType::kF16;
    case 3:
      return ElementType::kI8;
    case 4:
    case 5:
    case 6:
    case 15:
      return ElementType::kComplex;
    case 8:
      return ElementType::kU8;
    case 10:
      return ElementType::kI32;
    case 14:
      return ElementType::kBf16;
    case 24:
      return ElementType::kI64;
    case 28:
    case 29:
      return ElementType::kF8;
    default:
      return ElementType::kOther;
  }
}

// cudnnDataType_t.
[[nodiscard]] constexpr ElementType from_cudnn(int type) {
  switch (type) {
    case 0:
      return ElementType::kF32;
    case 1:
      return ElementType::kF64;
    case 2:
      return ElementType::kF16;
    case 3:
      return ElementType::kI8;
    case 4:
      return ElementType::kI32;
    case 6:
      return ElementType::kU8;
    case 9:
      return ElementType::kBf16;
    case 10:
      return ElementType::kI64;
    case 12:
    case 13:
      return ElementType::kF8;
    default:
      return ElementType::kOther;
  }
}

// ncclDataType_t.
[[nodiscard]] constexpr ElementType from_nccl(int type) {
  constexpr ElementType kTypes[] = {ElementType::kI8,   ElementType::kU8,  ElementType::kI32,
                                    ElementType::kU32,  ElementType::kI64, ElementType::kU64,
                                    ElementType::kF16,  ElementType::kF32, ElementType::kF64,
                                    ElementType::kBf16, ElementType::kF8,  ElementType::kF8};
  return type >= 0 && type < 12 ? kTypes[type] : ElementType::kOther;
}

}  // namespace tandem::pretend::abi
