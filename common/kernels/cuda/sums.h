// SPDX-License-Identifier: Apache-2.0
//
// Sums over elements that leave one number, taken in double and in an order that depends on nothing
// but the count and the alignment: the same bits every time. Each consists of its terms,
// at<width>(i) being the sum of a pack's, and of what becomes of the total, finish(total).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "common/kernels/cuda/pack.h"

namespace tandem::cuda {

// The mean square of prediction - target; writes the gradient on the way unless it is null.
struct MseSum {
  const float* prediction;
  const float* target;
  float* gradient;  // or null
  float* loss;      // one element
  std::int64_t count;
  float two_over_count;

  [[nodiscard]] bool packed() const { return are_packed(prediction, target, gradient); }

  template <int width>
  TANDEM_DEVICE double at(std::int64_t i) const {
    Pack<float, width> difference = load<width>(prediction + i);
    const Pack<float, width> other = load<width>(target + i);
    double sum = 0;
    for (int j = 0; j < width; ++j) {
      difference[j] -= other[j];
      sum += static_cast<double>(difference[j]) * static_cast<double>(difference[j]);
      difference[j] = two_over_count * difference[j];
    }
    if (gradient != nullptr) store(gradient + i, difference);
    return sum;
  }

  TANDEM_DEVICE void finish(double total) const {
    *loss = static_cast<float>(total / static_cast<double>(count));
  }
};

struct WeightedSumSum {
  const float* values;
  const float* weights;
  float* sum;  // one element

  [[nodiscard]] bool packed() const { return are_packed(values, weights); }

  template <int width>
  TANDEM_DEVICE double at(std::int64_t i) const {
    const Pack<float, width> value = load<width>(values + i);
    const Pack<float, width> weight = load<width>(weights + i);
    double part = 0;
    for (int j = 0; j < width; ++j) {
      part += static_cast<double>(value[j]) * static_cast<double>(weight[j]);
    }
    return part;
  }

  TANDEM_DEVICE void finish(double total) const { *sum = static_cast<float>(total); }
};

// Queues the sum over elements 0 .. count - 1 on the current GPU; none is a sum of 0. `partials`:
// scratch memory for kMostReductionBlocks (grid.h) numbers. Returns what the launches returned.
template <class Sum>
[[nodiscard]] cudaError_t sum_up(cudaStream_t stream, std::int64_t count, const Sum& sum,
                                 double* partials);

// dbias[o] = sum over the rows of dy (batch, out), in fp32: for products whose epilogue could not.
template <class T>
[[nodiscard]] cudaError_t sum_columns(cudaStream_t stream, std::int64_t batch, std::int64_t out,
                                      const T* dy, float* dbias);

}  // namespace tandem::cuda

// Every sum that sum_up() and its stand-in are made for: X(type).
#define TANDEM_EACH_SUM(X) \
  X(MseSum)                \
  X(WeightedSumSum)
