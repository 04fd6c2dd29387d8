// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/naive/naive.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "common/kernels/adam_factors.h"
#include "common/kernels/operands.h"
#include "common/tensor/random.h"
#include "tests/kernels/naive/naive_loops.h"

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
  const std::vector<float> bias = widened(op.bias);
  std::vector<float> y = widened(op.y);
  naive_loops::linear_forward(op.shape, widened(op.x).data(), widened(op.weight).data(),
                              data_or_null(bias), y.data(), op.activation);
  if (op.activation == Activation::kGelu) {
    store(y, op.before);  // rounds, so that GELU and its gradient get the same values
    naive_loops::gelu(op.y.size(), widened(op.before).data(), y.data());
  }
  store(y, op.y);
}

void naive(const LinearBackwardInput& op) {
  std::vector<float> dx = widened(op.dx);
  naive_loops::linear_backward_input(op.shape, widened(op.dy).data(), widened(op.weight).data(),
                                     dx.data());
  store(dx, op.dx);
  if (op.before.empty()) return;
  dx = widened(op.dx);  // rounded
  naive_loops::gelu_backward(op.dx.size(), widened(op.before).data(), dx.data());
  store(dx, op.dx);
}

void naive(const LinearBackwardWeight& op) {
  const LinearShape shape{op.shape.batch, op.shape.in, op.shape.out + op.padding};
  std::vector<float> dweight(static_cast<std::size_t>(shape.out * shape.in));
  naive_loops::linear_backward_weight(shape, widened(op.x).data(), widened(op.dy).data(),
                                      dweight.data(), tandem::data_or_null(op.dbias));
  std::copy_n(dweight.begin(), op.dweight.size(), op.dweight.data());
}

void naive(const ReluBackward& op) {
  std::vector<float> dy = widened(op.dy);
  naive_loops::relu_backward(op.y.size(), widened(op.y).data(), dy.data());
  store(dy, op.dy);
}

void naive(const MseLoss& op) {
  std::vector<float> gradient = widened(op.gradient);
  *op.loss.data() =
      naive_loops::mse_loss(op.prediction.size(), widened(op.prediction).data(), op.target.data(),
                            gradient.empty() ? nullptr : gradient.data());
  store(gradient, op.gradient);
}

void naive(const MseLossBackward& op) {
  std::vector<float> gradient = widened(op.gradient);
  naive_loops::mse_loss_backward(op.prediction.size(), widened(op.prediction).data(),
                                 op.target.data(), *op.loss_gradient.data(), gradient.data());
  store(gradient, op.gradient);
}

void naive(const CrossEntropyLoss& op) {
  std::vector<float> gradient = widened(op.gradient);
  *op.loss.data() = naive_loops::cross_entropy({op.target.size(), op.classes, op.padding},
                                               widened(op.prediction).data(), op.target.data(),
                                               gradient.empty() ? nullptr : gradient.data());
  store(gradient, op.gradient);
}

void naive(const CrossEntropyLossBackward& op) {
  std::vector<float> gradient = widened(op.gradient);
  naive_loops::cross_entropy_backward({op.target.size(), op.classes, op.padding},
                                      widened(op.prediction).data(), op.target.data(),
                                      *op.loss_gradient.data(), gradient.data());
  store(gradient, op.gradient);
}

void naive(const WeightedSum& op) {
  double sum = 0;
  for (std::int64_t i = 0; i < op.values.size(); ++i) {
    sum += static_cast<double>(op.values.data()[i]) * static_cast<double>(op.weights.data()[i]);
  }
  *op.sum.data() = static_cast<float>(sum);
}

void naive(const SgdUpdate& op) {
  for (const SgdUpdate::Tensor& t : op.tensors) {
    for (std::int64_t i = 0; i < t.weight.size(); ++i) {
      t.velocity.data()[i] = op.momentum * t.velocity.data()[i] + t.gradient.data()[i];
      t.weight.data()[i] -= op.learning_rate * t.velocity.data()[i];
    }
  }
}

void naive(const AdamUpdate& op) {
  advance(clock_of(op), op.rates);
  const AdamFactors f = clock_of(op).factors;
  for (const AdamUpdate::Tensor& t : op.tensors) {
    for (std::int64_t i = 0; i < t.weight.size(); ++i) {
      const float gradient = t.gradient.data()[i];
      float& first = t.first.data()[i];
      float& second = t.second.data()[i];
      first += f.first_gain * (gradient - first);
      second = f.second_decay * second + f.second_gain * gradient * gradient;
      float& weight = t.weight.data()[i];
      weight =
          f.kept * weight - f.step_size * first / (std::sqrt(second) / f.second_root + f.epsilon);
    }
  }
}

void naive(const FillRandom& op) {
  for (std::int64_t i = 0; i < op.values.size(); ++i) {
    op.values.data()[i] = element(op, op.first + static_cast<std::uint64_t>(i));
  }
}

void naive(const Fill& op) { std::fill_n(op.values.data(), op.values.size(), op.constant); }

void naive(const Scale& op) {
  for (std::int64_t i = 0; i < op.in.size(); ++i) op.out.data()[i] = op.factor * op.in.data()[i];
}

void naive(const Add& op) {
  for (std::int64_t i = 0; i < op.a.size(); ++i) op.sum.data()[i] = op.a.data()[i] + op.b.data()[i];
}

void naive(const AddScalar& op) {
  for (const Span<float> values : op.tensors) {
    for (float& value : values) value += op.constant;
  }
}

void naive(const Convert& op) {
  for (const auto& [in, out] : op.tensors) {
    for (std::int64_t i = 0; i < in.size(); ++i) {
      set_element(out, i, element(in, i));
      set_element(out, i, element(out, i) / op.divisor);
    }
  }
}

float element(ConstAnySpan values, std::int64_t i) {
  switch (values.dtype()) {
    case DType::kFloat32:
      return reinterpret_cast<const float*>(values.data())[i];
    case DType::kBFloat16:
      return static_cast<float>(reinterpret_cast<const BFloat16*>(values.data())[i]);
    case DType::kFloat16:
      return static_cast<float>(reinterpret_cast<const Float16*>(values.data())[i]);
  }
  return 0;
}

void set_element(AnySpan values, std::int64_t i, float value) {
  switch (values.dtype()) {
    case DType::kFloat32:
      reinterpret_cast<float*>(values.data())[i] = value;
      return;
    case DType::kBFloat16:
      reinterpret_cast<BFloat16*>(values.data())[i] = BFloat16(value);
      return;
    case DType::kFloat16:
      reinterpret_cast<Float16*>(values.data())[i] = Float16(value);
      return;
  }
}

std::vector<float> widened(ConstAnySpan values) {
  std::vector<float> wide;
  wide.reserve(static_cast<std::size_t>(values.size()));
  for (std::int64_t i = 0; i < values.size(); ++i) wide.push_back(element(values, i));
  return wide;
}

void store(const std::vector<float>& from, AnySpan to) {
  for (std::int64_t i = 0; i < to.size(); ++i) {
    set_element(to, i, from[static_cast<std::size_t>(i)]);
  }
}

}  // namespace tandem
