// SPDX-License-Identifier: Apache-2.0
//
// How far a GPU's results may be from the naive host version's, operation by operation, as a share
// of the norm of the naive result. Device code has fused multiply-adds, nvcc's default, as torch's
// has (2.15's CMake files and extension builder name no other), so that bits differ wherever a
// product meets a sum; sums are taken in another order, and functions such as tanh are CUDA's. An
// operation that is not listed gives the naive version's values exactly: it moves or chooses
// values, rounds each once, or adds small integers. Linear layers have the bound of
// cuda_product_parity.h, which depends on their size.
#pragma once

#include "common/kernels/precision.h"

namespace tandem::test::share {

// bf16: a result is rounded to 8 bits.
inline constexpr double kBf16Rounding = 0x1p-8;

inline constexpr double kUpdate = 1e-6;      // of SGD and Adam: weights, moments and Adam's factors
inline constexpr double kMseLoss = 5e-7;     // a sum in double, rounded once
inline constexpr double kGradient = 1e-6;    // of the mean squared error
inline constexpr double kNorm = 1e-5;        // layer and batch normalisation
inline constexpr double kCancelling = 1e-4;  // sums of numbers that cancel: means, gains
inline constexpr double kCrossEntropy = 1e-5;  // its gradients
inline constexpr double kCrossEntropyLoss = 2e-6;
inline constexpr double kAveragePool = 1e-6;

// A share of the norm of dy, for the slope may be near 0. It has 1 - t^2, t = tanh(sqrt(2 / pi) (x
// + 0.044715 x^3)), times up to 9.6 where t is not yet 1 in fp32, which is |x| < 5.2: 19 times what
// t is off by, 2^-23 on a GPU (CUDA's tanhf: 2 ulp). That is 2.3e-6; the rest is for the roundings
// of the other factors.
inline constexpr double kGeluBackward = 3e-6;
// The same as cuBLASLt's epilogue, which does not say how exact it is: of a hardware tanh, good to
// 2^-11.
inline constexpr double kGeluBackwardOfLibrary = 19 * 0x1p-11;

// fp32: what tf32 or a transform would not keep to.
[[nodiscard]] constexpr double of_convolution(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return 2e-6;
    case Precision::kTf32:
      return 2e-3;
    case Precision::kBf16:
      return kBf16Rounding;
  }
  return 0;
}

struct Attention {
  double log_sums;
  double result;
  double gradient;
};

[[nodiscard]] constexpr Attention of_attention(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return {1e-5, 2e-5, 1e-4};
    case Precision::kTf32:  // scores are off by 2^-10 |q| |k| / sqrt(head_width)
      return {4e-3, 8e-3, 0x1p-6};
    case Precision::kBf16:
      return {1e-5, 3 * 0x1p-8, 0x1p-6};
  }
  return {};
}

}  // namespace tandem::test::share
