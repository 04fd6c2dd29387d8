// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/naive.h"

#include <cmath>

#include "common/kernels/adam_factors.h"
#include "common/kernels/host/naive_loops.h"
#include "common/kernels/operands.h"
#include "common/tensor/random.h"

namespace tandem {
namespace {

float element(const FillRandom& op, std::uint64_t index) {
  const std::uint32_t bits = random_bits(op.seed, index);
  switch (op.distribution) {
    case Distribution::kUniform:
      return op.scale * uniform_from_bits(bits);
    case Distribution::kSmallIntegers:
      return op.scale * small_integer_from_bits(bits);
  }
  return 0;
}

}  // namespace

void naive(const LinearForward& op) {
  naive_loops::linear_forward(op.shape, op.x.data(), op.weight.data(), data_or_null(op.bias),
                              op.y.data(), op.activation);
}

void naive(const LinearBackwardInput& op) {
  naive_loops::linear_backward_input(op.shape, op.dy.data(), op.weight.data(), op.dx.data());
}

void naive(const LinearBackwardWeight& op) {
  naive_loops::linear_backward_weight(op.shape, op.x.data(), op.dy.data(), op.dweight.data(),
                                      data_or_null(op.dbias));
}

void naive(const ReluBackward& op) {
  naive_loops::relu_backward(op.y.size(), op.y.data(), op.dy.data());
}

void naive(const MseLoss& op) {
  *op.loss.data() = naive_loops::mse_loss(op.prediction.size(), op.prediction.data(),
                                          op.target.data(), data_or_null(op.gradient));
}

void naive(const MseLossBackward& op) {
  naive_loops::mse_loss_backward(op.prediction.size(), op.prediction.data(), op.target.data(),
                                 *op.loss_gradient.data(), op.gradient.data());
}

void naive(const WeightedSum& op) {
  double sum = 0;
  for (std::int64_t i = 0; i < op.values.size(); ++i) {
    sum += static_cast<double>(op.values.data()[i]) * static_cast<double>(op.weights.data()[i]);
  }
  *op.sum.data() = static_cast<float>(sum);
}

void naive(const SgdUpdate& op) {
  for (std::int64_t i = 0; i < op.weight.size(); ++i) {
    op.velocity.data()[i] = op.momentum * op.velocity.data()[i] + op.gradient.data()[i];
    op.weight.data()[i] -= op.learning_rate * op.velocity.data()[i];
  }
}

void naive(const AdamUpdate& op) {
  const AdamFactors f(op);
  for (std::int64_t i = 0; i < op.weight.size(); ++i) {
    const float gradient = op.gradient.data()[i];
    float& first = op.first.data()[i];
    float& second = op.second.data()[i];
    first += f.first_gain * (gradient - first);
    second = f.second_decay * second + f.second_gain * gradient * gradient;
    op.weight.data()[i] -= f.step_size * first / (std::sqrt(second) / f.second_root + f.epsilon);
  }
}

void naive(const FillRandom& op) {
  for (std::int64_t i = 0; i < op.values.size(); ++i) {
    op.values.data()[i] = element(op, op.first + static_cast<std::uint64_t>(i));
  }
}

void naive(const Scale& op) {
  for (std::int64_t i = 0; i < op.in.size(); ++i) op.out.data()[i] = op.factor * op.in.data()[i];
}

void naive(const Add& op) {
  for (std::int64_t i = 0; i < op.a.size(); ++i) op.sum.data()[i] = op.a.data()[i] + op.b.data()[i];
}

void naive(const AddScalar& op) {
  for (std::int64_t i = 0; i < op.values.size(); ++i) op.values.data()[i] += op.constant;
}

}  // namespace tandem
