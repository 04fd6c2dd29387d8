// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "common/base/dtype.h"

namespace tandem {

// The number format in which a step computes. Parameters, their gradients, the loss and the
// optimizer are fp32 in each precision.
enum class Precision {
  kFp32,
  kTf32,  // GPU only: fp32 in memory, factors of products rounded to 10 bits of fraction
  kBf16,  // as torch.autocast: activations, and copies of the parameters, are bf16
};

inline constexpr std::array kPrecisions{Precision::kFp32, Precision::kTf32, Precision::kBf16};

// How GPUs compute models of images; by default as torch does.
struct ImageOptions {
  bool fp32_factors = false;   // of fp32 convolutions, which else may round them as tf32 does
  bool channels_last = false;  // in memory; else first: (batch, channels, height, width)

  bool operator==(const ImageOptions&) const = default;
};

// The name of the precision: "fp32", "tf32", "bf16".
[[nodiscard]] std::string_view name_of(Precision precision);

// The type in which activations, and copies of parameters for products, are stored.
[[nodiscard]] constexpr DType storage_of(Precision precision) {
  return precision == Precision::kBf16 ? DType::kBFloat16 : DType::kFloat32;
}

}  // namespace tandem
