// SPDX-License-Identifier: Apache-2.0
//
// Each library numbers element types in its own way: from those to the log's.
#pragma once

#include "pretend/core/record.h"

namespace tandem::pretend::abi {

// cudaDataType, of cuBLAS and cuBLASLt.
[[nodiscard]] constexpr ElementType from_cuda(int type) {
  using enum ElementType;
  constexpr ElementType kTypes[] = {
      kF32,   kF64,   kF16,   kI8,    kComplex, kComplex, kComplex, kOther, kU8,    kOther,
      kI32,   kOther, kOther, kOther, kBf16,    kComplex, kOther,   kOther, kOther, kOther,
      kOther, kOther, kOther, kOther, kI64,     kOther,   kOther,   kOther, kF8,    kF8};
  return type >= 0 && type < 30 ? kTypes[type] : kOther;
}

// cudnnDataType_t.
[[nodiscard]] constexpr ElementType from_cudnn(int type) {
  using enum ElementType;
  constexpr ElementType kTypes[] = {kF32,   kF64,   kF16,  kI8,  kI32,   kOther, kU8,
                                    kOther, kOther, kBf16, kI64, kOther, kF8,    kF8};
  return type >= 0 && type < 14 ? kTypes[type] : kOther;
}

// ncclDataType_t.
[[nodiscard]] constexpr ElementType from_nccl(int type) {
  using enum ElementType;
  constexpr ElementType kTypes[] = {kI8,  kU8,  kI32, kU32,  kI64, kU64,
                                    kF16, kF32, kF64, kBf16, kF8,  kF8};
  return type >= 0 && type < 12 ? kTypes[type] : kOther;
}

}  // namespace tandem::pretend::abi
