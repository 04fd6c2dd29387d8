// SPDX-License-Identifier: Apache-2.0
#include "common/base/half.h"

#include "common/base/vector_clones.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tandem {

namespace {

TANDEM_VECTOR_CLONES
void narrow_plain(std::int64_t count, const float* in, Float16* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = Float16(in[i]);
}

TANDEM_VECTOR_CLONES
void widen_plain(std::int64_t count, const Float16* in, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

// x86 converts IEEE's format by instructions, several times as fast as the arithmetic. The
// functions below convert whole vectors; whole_vectors() is the number of elements in whole
// vectors, 0 where the machine has no such instructions.
#if defined(__x86_64__) && defined(__GNUC__)

#define TANDEM_F16C __attribute__((target("avx,f16c")))

constexpr std::int64_t kLanes = 8;

TANDEM_F16C void narrow_vectors(std::int64_t count, const float* in, Float16* out) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __m128i half =
        _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
}

TANDEM_F16C void widen_vectors(std::int64_t count, const Float16* in, float* out) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(half));
  }
}

// Asks cpuid, since not every compiler's __builtin_cpu_supports knows the name. Asks once, since a
// virtual machine takes long to answer.
bool has_f16c() {
  static const bool has = [] {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c & bit_F16C) != 0;
  }();
  return has;
}

std::int64_t whole_vectors(std::int64_t count) { return has_f16c() ? count - count % kLanes : 0; }

#else

void narrow_vectors(std::int64_t, const float*, Float16*) {}
void widen_vectors(std::int64_t, const Float16*, float*) {}
std::int64_t whole_vectors(std::int64_t) { return 0; }

#endif

}  // namespace

TANDEM_VECTOR_CLONES
void narrow(std::int64_t count, const float* in, BFloat16* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = BFloat16(in[i]);
}

TANDEM_VECTOR_CLONES
void widen(std::int64_t count, const BFloat16* in, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

void narrow(std::int64_t count, const float* in, Float16* out) {
  const std::int64_t done = whole_vectors(count);
  narrow_vectors(done, in, out);
  narrow_plain(count - done, in + done, out + done);
}

void widen(std::int64_t count, const Float16* in, float* out) {
  const std::int64_t done = whole_vectors(count);
  widen_vectors(done, in, out);
  widen_plain(count - done, in + done, out + done);
}

}  // namespace tandem
