// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive(), for any floating type: in double the formulas can be compared with
// finite differences, for which float is too coarse. Row-major, shapes beside the pointers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "common/kernels/operands.h"
#include "common/kernels/operations.h"

namespace tandem::naive_loops {

template <class T>
void linear_forward(const LinearShape& s, const T* x /* (batch, in) */,
                    const T* weight /* (out, in) */, const T* bias /* (out), or none */,
                    T* y /* (batch, out) */, Activation activation) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t o = 0; o < s.out; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < s.in; ++i) sum += double{x[b * s.in + i]} * weight[o * s.in + i];
      const double value = bias ? sum + bias[o] : sum;
      const bool off = activation == Activation::kRelu && value <= 0;
      y[b * s.out + o] = off ? T{0} : static_cast<T>(value);
    }
  }
}

template <class T>
void linear_backward_input(const LinearShape& s, const T* dy /* (batch, out) */,
                           const T* weight /* (out, in) */, T* dx /* (batch, in) */) {
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t i = 0; i < s.in; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < s.out; ++o) {
        sum += double{dy[b * s.out + o]} * weight[o * s.in + i];
      }
      dx[b * s.in + i] = static_cast<T>(sum);
    }
  }
}

template <class T>
void linear_backward_weight(const LinearShape& s, const T* x /* (batch, in) */,
                            const T* dy /* (batch, out) */, T* dweight /* (out, in) */,
                            T* dbias /* (out), or none */) {
  for (std::int64_t o = 0; o < s.out; ++o) {
    double bias_sum = 0;
    for (std::int64_t b = 0; b < s.batch; ++b) bias_sum += dy[b * s.out + o];
    if (dbias) dbias[o] = static_cast<T>(bias_sum);
    for (std::int64_t i = 0; i < s.in; ++i) {
      double sum = 0;
      for (std::int64_t b = 0; b < s.batch; ++b) {
        sum += double{dy[b * s.out + o]} * x[b * s.in + i];
      }
      dweight[o * s.in + i] = static_cast<T>(sum);
    }
  }
}

template <class T>
void relu_backward(std::int64_t count, const T* y, T* dy) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (y[i] <= 0) dy[i] = 0;
  }
}

inline double gelu_tanh(double x) {
  return std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x));
}

template <class T>
void gelu(std::int64_t count, const T* before, T* y) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<T>(0.5 * before[i] * (1 + gelu_tanh(before[i])));
  }
}

template <class T>
void gelu_backward(std::int64_t count, const T* before, T* dy) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = before[i];
    const double t = gelu_tanh(x);
    const double inner = std::sqrt(2 * std::numbers::inv_pi) * (1 + 3 * 0.044715 * x * x);
    dy[i] = static_cast<T>(dy[i] * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner));
  }
}

// The factor 2 / n is rounded once, as in the fast versions.
template <class T>
void mse_loss_backward(std::int64_t count, const T* prediction, const T* target, T loss_gradient,
                       T* gradient) {
  const T factor = T{2} / static_cast<T>(count) * loss_gradient;
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = factor * (prediction[i] - target[i]);
}

// Returns the loss; writes a gradient only where `gradient` has memory.
template <class T>
T mse_loss(std::int64_t count, const T* prediction, const T* target, T* gradient) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const T difference = prediction[i] - target[i];
    sum += double{difference} * double{difference};
  }
  if (gradient) mse_loss_backward(count, prediction, target, T{1}, gradient);
  return static_cast<T>(sum / static_cast<double>(count));
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
template <class T>
void cross_entropy_backward(const Classes& s, const T* prediction /* (rows, classes + padding) */,
                            const T* target /* (rows) */, T loss_gradient, T* gradient) {
  const double factor = double{loss_gradient} / static_cast<double>(s.rows);
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const std::int64_t right = class_index(static_cast<float>(target[r]), s.classes, "target", r);
    const T* const row = prediction + r * (s.classes + s.padding);
    T* const result = gradient + r * (s.classes + s.padding);
    const double log_sum = log_sum_exp(s.classes, row);
    for (std::int64_t c = 0; c < s.classes; ++c) {
      const double probability = std::exp(row[c] - log_sum);
      result[c] = static_cast<T>((probability - (c == right ? 1 : 0)) * factor);
    }
    std::fill_n(result + s.classes, s.padding, T{0});
  }
}

// Returns the loss; writes a gradient only where `gradient` has memory.
template <class T>
T cross_entropy(const Classes& s, const T* prediction, const T* target, T* gradient) {
  double sum = 0;
  for (std::int64_t r = 0; r < s.rows; ++r) {
    const T* const row = prediction + r * (s.classes + s.padding);
    sum += log_sum_exp(s.classes, row) -
           row[class_index(static_cast<float>(target[r]), s.classes, "target", r)];
  }
  if (gradient) cross_entropy_backward(s, prediction, target, T{1}, gradient);
  return static_cast<T>(sum / static_cast<double>(s.rows));
}

}  // namespace tandem::naive_loops
