// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "common/base/dtype.h"

namespace tandem {

// What a step computes in. Parameters, their gradients, the loss and the optimizer are fp32 in
// each.
enum class Precision {
  kFp32,
  kTf32,  // a GPU's: fp32 in memory, factors of products rounded to 10 bits of fraction
  kBf16,  // as torch.autocast: activations, and copies of the parameters, are bf16
};

inline constexpr std::array kPrecisions{Precision::kFp32, Precision::kTf32, Precision::kBf16};

// "fp32", "tf32", "bf16".
[[nodiscard]] std::string_view name_of(Precision precision);

// The precision of that name; else a usage error that names `flag` and lists what it takes.
[[nodiscard]] Precision parse_precision(std::string_view text, std::string_view flag);

// What activations, and what parameters are multiplied as, are stored as.
[[nodiscard]] constexpr DType storage_of(Precision precision) {
  return precision == Precision::kBf16 ? DType::kBFloat16 : DType::kFloat32;
}

}  // namespace tandem
