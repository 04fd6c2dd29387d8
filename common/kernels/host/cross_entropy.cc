// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/cross_entropy.h"

#include <cmath>

#include "common/kernels/class_index.h"
#include "common/kernels/host/exponentials.h"

namespace tandem::host {
namespace {

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

// Writes the gradient of all rows and returns the sum of the losses.
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
