// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/losses.h"

#include <cmath>

#include "common/base/vector_clones.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {

namespace {

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

// Returns the loss of one row.
double row_loss(std::int64_t classes, const float* prediction, std::int64_t right) {
  const float base = largest(classes, prediction);
  return std::log(sum_of_exponentials(classes, prediction, base)) +
         (static_cast<double>(base) - static_cast<double>(prediction[right]));
}

// Returns the loss of one row and writes the row's gradient, times `factor`.
double row_gradient(std::int64_t classes, const float* prediction, std::int64_t right,
                    double factor, float* gradient) {
  const float base = largest(classes, prediction);
  const double rest = static_cast<double>(base) - static_cast<double>(prediction[right]);
  const double sum = exponentials(classes, prediction, base, gradient);
  multiply(classes, gradient, static_cast<float>(factor / sum));
  gradient[right] -= static_cast<float>(factor);
  return std::log(sum) + rest;
}

std::int64_t right_class(Span<const float> target, std::int64_t row, std::int64_t classes) {
  return class_index(target.data()[row], classes, "target", row);
}

// Writes the gradient of all rows, in three passes over each row, of which the first brings the row
// into the cache, and returns the sum of the losses.
double gradient_of_all(const CrossEntropyLossBackward& op, double factor) {
  double sum = 0;
  for (std::int64_t row = 0; row < op.target.size(); ++row) {
    const std::int64_t first = row * op.classes;
    sum +=
        row_gradient(op.classes, op.prediction.data() + first,
                     right_class(op.target, row, op.classes), factor, op.gradient.data() + first);
  }
  return sum;
}

double loss_of_all(const CrossEntropyLoss& op) {
  double sum = 0;
  for (std::int64_t row = 0; row < op.target.size(); ++row) {
    sum += row_loss(op.classes, op.prediction.data() + row * op.classes,
                    right_class(op.target, row, op.classes));
  }
  return sum;
}

}  // namespace

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

void run(const CrossEntropyLoss& op) {
  const auto rows = static_cast<double>(op.target.size());
  const double sum = op.gradient.empty() ? loss_of_all(op)
                                         : gradient_of_all({.classes = op.classes,
                                                            .prediction = op.prediction,
                                                            .target = op.target,
                                                            .loss_gradient = {},
                                                            .gradient = op.gradient},
                                                           1 / rows);
  *op.loss.data() = static_cast<float>(sum / rows);
}

void run(const CrossEntropyLossBackward& op) {
  const auto rows = static_cast<double>(op.target.size());
  gradient_of_all(op, static_cast<double>(*op.loss_gradient.data()) / rows);
}

}  // namespace tandem::host
