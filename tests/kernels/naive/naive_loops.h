// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive(): sums in double, row-major, shapes beside the pointers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/kernels/operands.h"
#include "common/kernels/operations.h"

namespace tandem::naive_loops {

inline void linear_forward(const LinearShape& s, const float* x /* (batch, in) */,
                           const float* weight /* (out, in) */,
                           const float* bias /* (out), or none */, float* y /* (batch, out) */,
                           Activation activation) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t o = 0; o < s.out; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < s.in; ++i) sum += double{x[b * s.in + i]} * weight[o * s.in + i];
      const double value = bias ? sum + bias[o] : sum;
      const bool off = activation == Activation::kRelu && value <= 0;
      y[b * s.out + o] = off ? 0.0F : static_cast<float>(value);
    }
  }
}

inline void linear_backward_input(const LinearShape& s, const float* dy /* (batch, out) */,
                                  const float* weight /* (out, in) */,
                                  float* dx /* (batch, in) */) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.in; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < s.out; ++o) {
        sum += double{dy[b * s.out + o]} * weight[o * s.in + i];
      }
      dx[b * s.in + i] = static_cast<float>(sum);
    }
  }
}

inline void linear_backward_weight(const LinearShape& s, const float* x /* (batch, in) */,
                                   const float* dy /* (batch, out) */,
                                   float* dweight /* (out, in) */,
                                   float* dbias /* (out), or none */) {
  for (std::int64_t o = 0; o < s.out; ++o) {
    double bias_sum = 0;
    for (std::int64_t b = 0; b < s.batch; ++b) bias_sum += dy[b * s.out + o];
    if (dbias) dbias[o] = static_cast<float>(bias_sum);
    for (std::int64_t i = 0; i < s.in; ++i) {
      double sum = 0;
      for (std::int64_t b = 0; b < s.batch; ++b) {
        sum += double{dy[b * s.out + o]} * x[b * s.in + i];
      }
      dweight[o * s.in + i] = static_cast<float>(sum);
    }
  }
}

inline void relu_backward(std::int64_t count, const float* y, float* dy) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (y[i] <= 0) dy[i] = 0;
  }
}

inline double gelu_tanh(double x) {
  return std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x));
}

inline void gelu(std::int64_t count, const float* before, float* y) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<float>(0.5 * before[i] * (1 + gelu_tanh(before[i])));
  }
}

inline void gelu_backward(std::int64_t count, const float* before, float* dy) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = before[i];
    const double t = gelu_tanh(x);
    const double inner = std::sqrt(2 * std::numbers::inv_pi) * (1 + 3 * 0.044715 * x * x);
    dy[i] = static_cast<float>(dy[i] * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner));
  }
}

// The factor 2 / n is rounded once, as in the fast versions.
inline void mse_loss_backward(std::int64_t count, const float* prediction, const float* target,
                              float loss_gradient, float* gradient) {
  const float factor = 2.0F / static_cast<float>(count) * loss_gradient;
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = factor * (prediction[i] - target[i]);
}

// Returns the loss; writes a gradient only where `gradient` has memory.
inline float mse_loss(std::int64_t count, const float* prediction, const float* target,
                      float* gradient) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float difference = prediction[i] - target[i];
    sum += double{difference} * double{difference};
  }
  if (gradient) mse_loss_backward(count, prediction, target, 1.0F, gradient);
  return static_cast<float>(sum / static_cast<double>(count));
}

struct Classes {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  std::int64_t padding = 0;  // behind each row
};

// log(sum(exp(values))), without overflow.
template <class T>
double log_sum_exp(std::int64_t count, const T* values) {
  const double largest = *std::max_element(values, values + count);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(values[i] - largest);
  return largest + std::log(sum);
}

// Works in place too: gradient may be prediction.
inline void cross_entropy_backward(const Classes& s,
                                   const float* prediction /* (rows, classes + padding) */,
                                   const float* target /* (rows) */, float loss_gradient,
                                   float* gradient) {
  const double factor = double{loss_gradient} / static_cast<double>(s.rows);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const std::int64_t right = class_index(target[r], s.classes, "target", r);
    const float* const row = prediction + r * (s.classes + s.padding);
    float* const result = gradient + r * (s.classes + s.padding);
    const double log_sum = log_sum_exp(s.classes, row);
    for (std::int64_t c = 0; c < s.classes; ++c) {
      const double probability = std::exp(row[c] - log_sum);
      result[c] = static_cast<float>((probability - (c == right ? 1 : 0)) * factor);
    }
    std::fill_n(result + s.classes, s.padding, 0.0F);
  }
}

// Returns the loss; writes a gradient only where `gradient` has memory.
inline float cross_entropy(const Classes& s, const float* prediction, const float* target,
                           float* gradient) {
  double sum = 0;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const float* const row = prediction + r * (s.classes + s.padding);
    sum += log_sum_exp(s.classes, row) - row[class_index(target[r], s.classes, "target", r)];
  }
  if (gradient) cross_entropy_backward(s, prediction, target, 1.0F, gradient);
  return static_cast<float>(sum / static_cast<double>(s.rows));
}

}  // namespace tandem::naive_loops
