// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/conversion.h"

#include <algorithm>
#include <array>

#include "common/base/half.h"
#include "common/base/vector_clones.h"

namespace tandem::host {
namespace {

// Converts and divides in one pass.
TANDEM_VECTOR_CLONES
void narrow_divided(std::int64_t count, const float* in, BFloat16* out, float divisor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = BFloat16(static_cast<float>(BFloat16(in[i])) / divisor);
  }
}

TANDEM_VECTOR_CLONES
void divide(std::int64_t count, float* values, float divisor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] /= divisor;
}

// Converts block by block, as a block stays in the L1 cache: only conversions of whole arrays have
// the machine's instructions for this format.
void narrow_divided(std::int64_t count, const float* in, Float16* out, float divisor) {
  constexpr std::int64_t kBlock = 2048;
  std::array<float, kBlock> wide;
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t block = std::min(kBlock, count - done);
    narrow(block, in + done, out + done);
    widen(block, out + done, wide.data());
    divide(block, wide.data(), divisor);
    narrow(block, wide.data(), out + done);
  }
}

template <class T>
void run_narrowing(const Convert& op) {
  const auto* const in = reinterpret_cast<const float*>(op.in.data());
  auto* const out = reinterpret_cast<T*>(op.out.data());
  if (op.divisor == 1) return narrow(op.in.size(), in, out);
  narrow_divided(op.in.size(), in, out, op.divisor);
}

template <class T>
void run_widening(const Convert& op) {
  auto* const out = reinterpret_cast<float*>(op.out.data());
  widen(op.in.size(), reinterpret_cast<const T*>(op.in.data()), out);
  if (op.divisor != 1) divide(op.in.size(), out, op.divisor);
}

}  // namespace

void run(const Convert& op) {
  const bool narrows = op.in.dtype() == DType::kFloat32;
  switch (narrows ? op.out.dtype() : op.in.dtype()) {
    case DType::kBFloat16:
      return narrows ? run_narrowing<BFloat16>(op) : run_widening<BFloat16>(op);
    case DType::kFloat16:
      return narrows ? run_narrowing<Float16>(op) : run_widening<Float16>(op);
    case DType::kFloat32:
      break;
  }
  fail(ErrorKind::kLogic, "a conversion of fp32 to fp32");
}

}  // namespace tandem::host
