// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/naive/naive_image.h"

#include <vector>

#include "tests/kernels/naive/naive.h"

namespace tandem {

namespace {

// dy + dabove, rounded to their type.
std::vector<float> added(ConstAnySpan dy, ConstAnySpan dabove) {
  std::vector<float> sum = widened(dy);
  for (std::int64_t i = 0; i < dabove.size(); ++i) {
    const float exact = sum[static_cast<std::size_t>(i)] + element(dabove, i);
    sum[static_cast<std::size_t>(i)] =
        dy.dtype() == DType::kBFloat16 ? static_cast<float>(BFloat16(exact)) : exact;
  }
  return sum;
}

}  // namespace

void naive(const ConvolutionForward& op) {
  std::vector<float> y = widened(op.y);
  naive_loops::convolution_forward(op.shape, widened(op.x).data(), widened(op.weight).data(),
                                   y.data());
  store(y, op.y);
}

void naive(const ConvolutionBackwardInput& op) {
  std::vector<float> dx = widened(op.dx);
  naive_loops::convolution_backward_input(op.shape, widened(op.dy).data(),
                                          widened(op.weight).data(), dx.data());
  store(dx, op.dx);
}

void naive(const ConvolutionBackwardWeight& op) {
  naive_loops::convolution_backward_weight(op.shape, widened(op.x).data(), widened(op.dy).data(),
                                           op.dweight.data());
}

void naive(const BatchNormForward& op) {
  const std::vector<float> x = widened(op.x);
  const std::vector<float> residual = widened(op.residual);
  std::vector<float> y = widened(op.y);
  naive_loops::batch_norm_forward(
      op.shape,
      {.x = x.data(),
       .residual = data_or_null(residual),
       .gain = op.gain.data(),
       .bias = op.bias.data(),
       .y = y.data(),
       .running_mean = op.running_mean.data(),
       .running_variance = op.running_variance.data(),
       .mean = op.mean.data(),
       .rstd = op.rstd.data()},
      {.activation = op.activation, .epsilon = op.epsilon, .momentum = op.momentum});
  store(y, op.y);
}

void naive(const BatchNormBackward& op) {
  const std::vector<float> x = widened(op.x);
  std::vector<float> g = added(op.dy, op.dabove);
  for (std::int64_t i = 0; i < op.y.size(); ++i) {
    if (element(op.y, i) <= 0) g[static_cast<std::size_t>(i)] = 0;
  }
  std::vector<float> dx(g.size());
  naive_loops::batch_norm_backward(op.shape, {.x = x.data(),
                                              .g = g.data(),
                                              .gain = op.gain.data(),
                                              .mean = op.mean.data(),
                                              .rstd = op.rstd.data(),
                                              .dx = dx.data(),
                                              .dgain = op.dgain.data(),
                                              .dbias = op.dbias.data()});
  store(dx, op.dx);
  store(g, op.dresidual);
}

void naive(const MaxPoolForward& op) {
  std::vector<float> y = widened(op.y);
  naive_loops::max_pool_forward(op.shape, widened(op.x).data(), y.data());
  store(y, op.y);
}

void naive(const MaxPoolBackward& op) {
  std::vector<float> dx = widened(op.dx);
  naive_loops::max_pool_backward(op.shape, widened(op.x).data(), widened(op.y).data(),
                                 added(op.dy, op.dabove).data(), dx.data());
  store(dx, op.dx);
}

void naive(const AveragePoolForward& op) {
  std::vector<float> y = widened(op.y);
  naive_loops::average_pool_forward(op.shape, widened(op.x).data(), y.data());
  store(y, op.y);
}

void naive(const AveragePoolBackward& op) {
  std::vector<float> dx = widened(op.dx);
  naive_loops::average_pool_backward(op.shape, widened(op.dy).data(), dx.data());
  store(dx, op.dx);
}

}  // namespace tandem
