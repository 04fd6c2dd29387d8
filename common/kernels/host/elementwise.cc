// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/elementwise.h"

#include <algorithm>
#include <cmath>

#include "common/base/vector_clones.h"
#include "common/kernels/adam_factors.h"
#include "common/kernels/host/dot_product.h"
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
void add(std::int64_t count, const float* a, const float* b, float* sum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
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
  sgd_update(op.weight.size(), op.gradient.data(), op.velocity.data(), op.weight.data(),
             op.learning_rate, op.momentum);
}

void run(const AdamUpdate& op) {
  adam_update(op.weight.size(), op.gradient.data(), op.first.data(), op.second.data(),
              op.weight.data(), AdamFactors(op));
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

}  // namespace tandem::host
