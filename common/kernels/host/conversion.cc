// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/conversion.h"

#include "common/base/vector_clones.h"

namespace tandem::host {
namespace {

template <class T>
[[gnu::always_inline]] inline void narrow(std::int64_t count, const float* in, T* out) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) out[i] = T(in[i]);
}

template <class T>
[[gnu::always_inline]] inline void narrow_divided(std::int64_t count, const float* in, T* out,
                                                  float divisor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = T(static_cast<float>(T(in[i])) / divisor);
  }
}

// Widening is exact; dividing by 1 is too.
template <class T>
[[gnu::always_inline]] inline void widen(std::int64_t count, const T* in, float* out,
                                         float divisor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]) / divisor;
}

// By name for each type: a template has no clones.
TANDEM_VECTOR_CLONES
void to_bfloat16(std::int64_t count, const float* in, BFloat16* out) { narrow(count, in, out); }
TANDEM_VECTOR_CLONES
void to_float16(std::int64_t count, const float* in, Float16* out) { narrow(count, in, out); }
TANDEM_VECTOR_CLONES
void to_bfloat16_divided(std::int64_t count, const float* in, BFloat16* out, float divisor) {
  narrow_divided(count, in, out, divisor);
}
TANDEM_VECTOR_CLONES
void to_float16_divided(std::int64_t count, const float* in, Float16* out, float divisor) {
  narrow_divided(count, in, out, divisor);
}
TANDEM_VECTOR_CLONES
void from_bfloat16(std::int64_t count, const BFloat16* in, float* out, float divisor) {
  widen(count, in, out, divisor);
}
TANDEM_VECTOR_CLONES
void from_float16(std::int64_t count, const Float16* in, float* out, float divisor) {
  widen(count, in, out, divisor);
}

void run_narrowing(const Convert& op) {
  const auto* const in = reinterpret_cast<const float*>(op.in.data());
  const std::int64_t count = op.in.size();
  if (op.out.dtype() == DType::kBFloat16) {
    auto* const out = reinterpret_cast<BFloat16*>(op.out.data());
    if (op.divisor == 1) return to_bfloat16(count, in, out);
    return to_bfloat16_divided(count, in, out, op.divisor);
  }
  auto* const out = reinterpret_cast<Float16*>(op.out.data());
  if (op.divisor == 1) return to_float16(count, in, out);
  return to_float16_divided(count, in, out, op.divisor);
}

void run_widening(const Convert& op) {
  auto* const out = reinterpret_cast<float*>(op.out.data());
  const std::int64_t count = op.in.size();
  if (op.in.dtype() == DType::kBFloat16) {
    return from_bfloat16(count, reinterpret_cast<const BFloat16*>(op.in.data()), out, op.divisor);
  }
  return from_float16(count, reinterpret_cast<const Float16*>(op.in.data()), out, op.divisor);
}

}  // namespace

void run(const Convert& op) {
  if (op.in.dtype() == DType::kFloat32) return run_narrowing(op);
  return run_widening(op);
}

}  // namespace tandem::host
