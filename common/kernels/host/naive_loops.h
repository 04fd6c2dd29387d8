// SPDX-License-Identifier: Apache-2.0
//
// The formulas behind naive(), for any floating type: in double they can be held against finite
// differences, which float is too coarse for. Row-major, shapes beside the pointers.
#pragma once

#include <cstdint>

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

// The factor 2 / n is rounded once, as in the fast versions.
template <class T>
void mse_loss_backward(std::int64_t count, const T* prediction, const T* target, T loss_gradient,
                       T* gradient) {
  const T factor = T{2} / static_cast<T>(count) * loss_gradient;
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = factor * (prediction[i] - target[i]);
}

// Returns the loss; makes no gradient where there is no place for one.
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

}  // namespace tandem::naive_loops
