// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/activation.h"

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {

namespace {

TANDEM_VECTOR_CLONES
void relu_backward(std::int64_t count, const float* y, float* dy) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) dy[i] = y[i] <= 0 ? 0.0F : dy[i];
}

// Compares the bits, since integers vectorise: y <= 0 where y is a zero, or negative and not NaN.
TANDEM_VECTOR_CLONES
void relu_backward(std::int64_t count, const BFloat16* y, BFloat16* dy) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t bits = y[i].bits;
    const bool off = (bits & 0x7fff) == 0 || (bits >= 0x8000 && bits <= 0xff80);
    dy[i].bits = off ? std::uint16_t{0} : dy[i].bits;
  }
}

// GELU is x times 0.5 (1 + tanh(u)), which is the logistic function of 2 u, 1 / (1 + e^(-2 u)):
// this form needs no tanh and loses no precision where tanh is near -1.
constexpr float kSlopeAtZero = 1.59576912F;  // slope of 2 u: 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;
// For |x| above the bound the logistic function is 1, or 0 up to an error too small to matter; up
// to the bound, 2 u is between -87 and 87.
constexpr float kBound = 9.9F;

// e^(-2 u), for |x| up to the bound.
TANDEM_INTO_LOOPS float complement(float x) {
  return bounded_exponential(-kSlopeAtZero * x * (1 + kCubic * x * x));
}

template <class T>
TANDEM_INTO_LOOPS T gelu_of(T before) {
  const float x = at_least(-kBound, static_cast<float>(before));
  return T(x / (1 + complement(at_most(kBound, x))));
}

// The slope, with s the logistic function of 2 u: (x s)' = s + x s (1 - s) 2 u'.
template <class T>
TANDEM_INTO_LOOPS T slope_times(T before, T dy) {
  const float x = at_most(kBound, at_least(-kBound, static_cast<float>(before)));
  const float e = complement(x);
  const float s = 1 / (1 + e);
  const float inner = kSlopeAtZero * (1 + 3 * kCubic * x * x);
  return T(static_cast<float>(dy) * (s + x * inner * (s * (e * s))));
}

TANDEM_VECTOR_CLONES
void forward(std::int64_t count, const float* before, float* y) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) y[i] = gelu_of(before[i]);
}

TANDEM_VECTOR_CLONES
void forward(std::int64_t count, const BFloat16* before, BFloat16* y) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) y[i] = gelu_of(before[i]);
}

TANDEM_VECTOR_CLONES
void backward(std::int64_t count, const float* before, float* dy) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) dy[i] = slope_times(before[i], dy[i]);
}

TANDEM_VECTOR_CLONES
void backward(std::int64_t count, const BFloat16* before, BFloat16* dy) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) dy[i] = slope_times(before[i], dy[i]);
}

}  // namespace

void run(const ReluBackward& op) {
  if (op.y.dtype() == DType::kBFloat16) {
    return relu_backward(op.y.size(), op.y.as<const BFloat16>().data(),
                         op.dy.as<BFloat16>().data());
  }
  relu_backward(op.y.size(), op.y.as<const float>().data(), op.dy.as<float>().data());
}

void gelu(ConstAnySpan before, AnySpan y) {
  if (before.dtype() == DType::kBFloat16) {
    return forward(before.size(), before.as<const BFloat16>().data(), y.as<BFloat16>().data());
  }
  forward(before.size(), before.as<const float>().data(), y.as<float>().data());
}

void gelu_backward(ConstAnySpan before, AnySpan dy) {
  if (before.dtype() == DType::kBFloat16) {
    return backward(before.size(), before.as<const BFloat16>().data(), dy.as<BFloat16>().data());
  }
  backward(before.size(), before.as<const float>().data(), dy.as<float>().data());
}

}  // namespace tandem::host
