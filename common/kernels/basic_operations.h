// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "common/kernels/adam_factors.h"
#include "common/runtime/span.h"

namespace tandem {

enum class Distribution {
  kUniform,        // scale * [-1, 1), in steps of 2^-23
  kSmallIntegers,  // scale * {-1, 0, 1}: sums of these are exact, in any order
};

// values[i] = element `first + i` of the random sequence that `seed` names: a pure function of
// (seed, first + i), whatever the partition (tensor/random.h).
struct FillRandom {
  Span<float> values;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  Distribution distribution = Distribution::kUniform;
  float scale = 1;
};

// values = constant
struct Fill {
  Span<float> values;
  float constant = 0;
};

// out = factor * in; in place allowed.
struct Scale {
  Span<const float> in;
  Span<float> out;
  float factor = 1;
};

// values += constant
struct AddScalar {
  Span<float> values;
  float constant = 0;
};

// sum = a + b; sum may be a.
struct Add {
  Span<const float> a;
  Span<const float> b;
  Span<float> sum;
};

// difference = a - b; difference may be a or b.
struct Subtract {
  Span<const float> a;
  Span<const float> b;
  Span<float> difference;
};

// out = in as out's type, divided by `divisor` in that type: two roundings, as where a narrow
// tensor is divided after the cast. Exactly one of `in` and `out` is fp32; the two do not overlap.
// The other may have padding behind each row: zeros where it is written, not read.
struct Convert {
  ConstAnySpan in;
  AnySpan out;
  float divisor = 1;
  std::int64_t columns = 0;  // of the rows, where there is padding
  std::int64_t padding = 0;
};

// Makes the rows of a matrix orthonormal, in place, from the first on (Gram-Schmidt): each row
// loses its part along the rows before and is divided by its length. The projection is done twice,
// so that rows that were nearly parallel end orthogonal too. A row with nothing left, such as one
// of zeros, becomes the remainder of the first unit vector that leaves enough: the rows are a basis
// in any case. NaN and infinity make their row and the rows after that row NaN.
struct Orthogonalise {
  std::int64_t rows = 0;  // at most as many as columns
  Span<float> matrix;     // (rows, columns)
};

// kGelu is the tanh form of GPT-2: 0.5 y (1 + tanh(sqrt(2 / pi) (y + 0.044715 y^3))).
enum class Activation { kNone, kRelu, kGelu };

// The sizes of a linear layer: rows of the batch, columns in, columns out.
struct LinearShape {
  std::int64_t batch = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;

  auto operator<=>(const LinearShape&) const = default;
};

// Floating-point operations of one matrix product of this shape, a multiply-add counted as two: the
// forward pass is one product, the backward pass two. Bias and activation are not counted.
[[nodiscard]] constexpr std::int64_t product_flops(const LinearShape& shape) {
  return 2 * shape.batch * shape.in * shape.out;
}

// y = activation(x . weight^T + bias)
struct LinearForward {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan weight;  // (out, in)
  ConstAnySpan bias{};  // (out), or empty: none
  AnySpan y{};          // (batch, out)
  Activation activation = Activation::kNone;
  AnySpan before{};  // (batch, out): the activation's input, kept for GELU's gradient; or empty
};

// dx = dy . weight
struct LinearBackwardInput {
  LinearShape shape;
  ConstAnySpan dy;      // (batch, out)
  ConstAnySpan weight;  // (out, in)
  AnySpan dx;           // (batch, in)
};

// dweight = dy^T . x, dbias = column sums of dy. Overwrites both, never accumulates. Gradients of
// parameters are fp32 whatever x and dy are, since fp32 sums make these gradients. Without dbias,
// rows of dy may have padding behind them, which is not read.
struct LinearBackwardWeight {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan dy;      // (batch, out)
  Span<float> dweight;  // (out, in)
  Span<float> dbias{};  // (out), or empty where there is no bias
  std::int64_t padding = 0;
};

// dy = 0 where y <= 0, in place; y is the result of the ReLU.
struct ReluBackward {
  ConstAnySpan y;
  AnySpan dy;
};

// dy *= the slope of GELU, in place; `before` is the input of the GELU.
struct GeluBackward {
  ConstAnySpan before;
  AnySpan dy;
};

// loss = mean over all elements of (prediction - target)^2, gradient = 2 (prediction - target) / n.
// An empty gradient asks for the loss alone.
struct MseLoss {
  Span<const float> prediction;
  Span<const float> target;
  Span<float> gradient{};
  Span<float> loss{};  // one element
};

// gradient = 2 (prediction - target) / n * loss_gradient, where loss_gradient is the gradient of a
// sum of losses with respect to this loss.
struct MseLossBackward {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;
};

// Softmax, logarithm, choice of the target's class and mean in one pass, with the gradient:
// loss = mean over rows of log(sum(exp(prediction[r]))) - prediction[r][target[r]],
// gradient = (softmax(prediction[r]) - onehot(target[r])) / rows. Targets are whole numbers in
// [0, classes), held as fp32. An empty gradient asks for the loss alone.
struct CrossEntropyLoss {
  std::int64_t classes = 0;
  Span<const float> prediction;  // (rows, classes)
  Span<const float> target;      // (rows)
  Span<float> gradient{};        // (rows, classes), may be prediction
  Span<float> loss{};            // one element
};

// The gradient of CrossEntropyLoss, times loss_gradient.
struct CrossEntropyLossBackward {
  std::int64_t classes = 0;
  Span<const float> prediction;     // (rows, classes)
  Span<const float> target;         // (rows)
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;             // (rows, classes), may be prediction
};

// sum = values[0] * weights[0] + values[1] * weights[1] + ...
struct WeightedSum {
  Span<const float> values;
  Span<const float> weights;
  Span<float> sum;  // one element
};

// Updates each tensor, all in one operation as torch's foreach and fused optimizers do:
// velocity = momentum * velocity + gradient; weight -= learning_rate * velocity  (as torch's SGD)
struct SgdUpdate {
  struct Tensor {
    Span<const float> gradient;
    Span<float> velocity;
    Span<float> weight;
  };

  std::vector<Tensor> tensors{};
  float learning_rate = 0;
  float momentum = 0;
};

// The update of torch's Adam and AdamW of each tensor, in one operation. Counts the step t = 1, 2,
// ... in `clock`, then:
// first += (1 - beta1) (gradient - first); second = beta2 second + (1 - beta2) gradient^2;
// weight -= learning_rate / (1 - beta1^t) * first / (sqrt(second) / sqrt(1 - beta2^t) + epsilon)
struct AdamUpdate {
  struct Tensor {
    Span<const float> gradient;
    Span<float> first;   // first moment
    Span<float> second;  // second moment
    Span<float> weight;
  };

  std::vector<Tensor> tensors{};
  Span<float> clock{};  // an AdamClock
  AdamRates rates{};
};

}  // namespace tandem
