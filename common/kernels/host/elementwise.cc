// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/adam_factors.h"
#include "common/kernels/basic_operations.h"
#include "common/kernels/host/loops.h"
#include "common/kernels/host/vector_math.h"
#include "common/kernels/operands.h"
#include "common/tensor/random.h"

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

TANDEM_VECTOR_CLONES
void sgd_update(std::int64_t count, const float* gradient, float* velocity, float* weight,
                float learning_rate, float momentum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    const float v = momentum * velocity[i] + gradient[i];
    velocity[i] = v;
    weight[i] -= learning_rate * v;
  }
}

TANDEM_VECTOR_CLONES
void adam_update(std::int64_t count, const float* gradient, float* first, float* second,
                 float* weight, const AdamFactors f) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    const float m = first[i] + f.first_gain * (gradient[i] - first[i]);
    const float v = f.second_decay * second[i] + f.second_gain * gradient[i] * gradient[i];
    first[i] = m;
    second[i] = v;
    weight[i] = f.kept * weight[i] - f.step_size * m / (std::sqrt(v) / f.second_root + f.epsilon);
  }
}

TANDEM_VECTOR_CLONES
void scale(std::int64_t count, const float* in, float* out, float factor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) out[i] = factor * in[i];
}

TANDEM_VECTOR_CLONES
void subtract(std::int64_t count, const float* a, const float* b, float* difference) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) difference[i] = a[i] - b[i];
}

TANDEM_VECTOR_CLONES
void add_scalar(std::int64_t count, float* values, float constant) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) values[i] += constant;
}

TANDEM_VECTOR_CLONES
void mse_backward(std::int64_t count, const float* prediction, const float* target, float* gradient,
                  float factor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = factor * (prediction[i] - target[i]);
}

// Returns the sum of squared differences; writes a gradient only where `gradient` has memory. The
// gradient's loop reads again the elements that the sum's loop has just brought into the cache.
TANDEM_VECTOR_CLONES
double mse(std::int64_t count, const float* prediction, const float* target, float* gradient,
           float factor) {
  double sums[kSums] = {};
  const std::int64_t whole = count - count % kSums;
  for (std::int64_t begin = 0; begin < whole; begin += kSums) {
    const float* p = prediction + begin;
    const float* t = target + begin;
    TANDEM_INDEPENDENT_ITERATIONS
    for (int j = 0; j < kSums; ++j) {
      const float difference = p[j] - t[j];
      sums[j] += static_cast<double>(difference) * static_cast<double>(difference);
    }
    if (gradient == nullptr) continue;
    TANDEM_INDEPENDENT_ITERATIONS
    for (int j = 0; j < kSums; ++j) gradient[begin + j] = factor * (p[j] - t[j]);
  }
  for (std::int64_t i = whole; i < count; ++i) {
    const float difference = prediction[i] - target[i];
    sums[i - whole] += static_cast<double>(difference) * static_cast<double>(difference);
    if (gradient != nullptr) gradient[i] = factor * difference;
  }
  return total(sums);
}

}  // namespace

void run(const ReluBackward& op) {
  if (op.y.dtype() == DType::kBFloat16) {
    return relu_backward(op.y.size(), op.y.as<const BFloat16>().data(),
                         op.dy.as<BFloat16>().data());
  }
  relu_backward(op.y.size(), op.y.as<const float>().data(), op.dy.as<float>().data());
}

void run(const MseLoss& op) {
  const std::int64_t count = op.prediction.size();
  const double sum = mse(count, op.prediction.data(), op.target.data(), data_or_null(op.gradient),
                         2.0F / static_cast<float>(count));
  *op.loss.data() = static_cast<float>(sum / static_cast<double>(count));
}

void run(const MseLossBackward& op) {
  const std::int64_t count = op.prediction.size();
  mse_backward(count, op.prediction.data(), op.target.data(), op.gradient.data(),
               2.0F / static_cast<float>(count) * *op.loss_gradient.data());
}

void run(const WeightedSum& op) {
  *op.sum.data() =
      static_cast<float>(dot_product(op.values.size(), op.values.data(), op.weights.data()));
}

void run(const SgdUpdate& op) {
  for (const SgdUpdate::Tensor& t : op.tensors) {
    sgd_update(t.weight.size(), t.gradient.data(), t.velocity.data(), t.weight.data(),
               op.learning_rate, op.momentum);
  }
}

void run(const AdamUpdate& op) {
  AdamClock& clock = clock_of(op);
  advance(clock, op.rates);
  for (const AdamUpdate::Tensor& t : op.tensors) {
    adam_update(t.weight.size(), t.gradient.data(), t.first.data(), t.second.data(),
                t.weight.data(), clock.factors);
  }
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

void run(const AddScalar& op) { add_scalar(op.values.size(), op.values.data(), op.constant); }

void run(const Subtract& op) {
  subtract(op.a.size(), op.a.data(), op.b.data(), op.difference.data());
}

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

// Row by row: only GPUs' models have padding, so that this need not be fast.
void run_padded(const Convert& op) {
  const bool narrows = op.in.dtype() == DType::kFloat32;
  const std::int64_t padded = op.columns + op.padding;
  const std::int64_t rows = (narrows ? op.out : ConstAnySpan(op.in)).size() / padded;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t in = row * (narrows ? op.columns : padded);
    const std::int64_t out = row * (narrows ? padded : op.columns);
    run(Convert{.in = op.in.subspan(in, op.columns),
                .out = op.out.subspan(out, op.columns),
                .divisor = op.divisor});
    if (!narrows) continue;
    const AnySpan padding = op.out.subspan(out + op.columns, op.padding);
    std::fill_n(padding.data(), padding.bytes().size(), std::byte{0});
  }
}

}  // namespace

void run(const Convert& op) {
  if (op.padding > 0) return run_padded(op);
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

namespace {

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

void gelu(ConstAnySpan before, AnySpan y) {
  if (before.dtype() == DType::kBFloat16) {
    return forward(before.size(), before.as<const BFloat16>().data(), y.as<BFloat16>().data());
  }
  forward(before.size(), before.as<const float>().data(), y.as<float>().data());
}

void run(const GeluBackward& op) {
  const std::int64_t count = op.before.size();
  if (op.before.dtype() == DType::kBFloat16) {
    return backward(count, op.before.as<const BFloat16>().data(), op.dy.as<BFloat16>().data());
  }
  backward(count, op.before.as<const float>().data(), op.dy.as<float>().data());
}

}  // namespace tandem::host
