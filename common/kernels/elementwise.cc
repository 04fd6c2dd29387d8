// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/elementwise.h"

#include <algorithm>
#include <array>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"
#include "common/tensor/random.h"

namespace tandem::host {

namespace {

TANDEM_VECTOR_CLONES
void scale(std::int64_t count, const float* in, float* out, float factor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) out[i] = factor * in[i];
}

TANDEM_VECTOR_CLONES
void add_scalar(std::int64_t count, float* values, float constant) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) values[i] += constant;
}

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

// `T`: the narrow type.
template <class T>
void convert(const Convert::Tensor& tensor, float divisor) {
  const std::int64_t count = tensor.in.size();
  if (tensor.in.dtype() == DType::kFloat32) {
    const auto* const in = reinterpret_cast<const float*>(tensor.in.data());
    auto* const out = reinterpret_cast<T*>(tensor.out.data());
    return divisor == 1 ? narrow(count, in, out) : narrow_divided(count, in, out, divisor);
  }
  auto* const out = reinterpret_cast<float*>(tensor.out.data());
  widen(count, reinterpret_cast<const T*>(tensor.in.data()), out);
  if (divisor != 1) divide(count, out, divisor);
}

template <class T>
void convert_each(const Convert& op) {
  for (const Convert::Tensor& tensor : op.tensors) convert<T>(tensor, op.divisor);
}

}  // namespace

void run(const WeightedSum& op) {
  *op.sum.data() =
      static_cast<float>(dot_product(op.values.size(), op.values.data(), op.weights.data()));
}

void run(const FillRandom& op) {
  const std::span<float> values(op.values.data(), static_cast<std::size_t>(op.values.size()));
  switch (op.distribution) {
    case Distribution::kUniform:
      return fill_uniform(values, op.seed, op.first, op.scale);
    case Distribution::kSmallIntegers:
      return fill_small_integers(values, op.seed, op.first, op.scale);
  }
}

void run(const Fill& op) { std::fill_n(op.values.data(), op.values.size(), op.constant); }

void run(const Scale& op) { scale(op.in.size(), op.in.data(), op.out.data(), op.factor); }

void run(const Add& op) { add(op.a.size(), op.a.data(), op.b.data(), op.sum.data()); }

void run(const AddScalar& op) {
  for (const Span<float> values : op.tensors) add_scalar(values.size(), values.data(), op.constant);
}

void run(const Convert& op) {
  if (op.narrow_type() == DType::kBFloat16) return convert_each<BFloat16>(op);
  convert_each<Float16>(op);
}

}  // namespace tandem::host
