// SPDX-License-Identifier: Apache-2.0
//
// The operations that models, losses and optimizers are made of: one struct each, holding the
// operands, and one interface that enqueues them on a stream. All matrices are row-major and dense.
// Elements are float where a Span says so. Those of any type are, in one operation, all fp32 or all
// bf16: then sums are taken in fp32 and rounded once. Every operand lies on the stream's device;
// the call returns before the work is done, and the operands must outlive it. kernels/host/naive.h
// holds the plain version of each, which is what the fast ones are compared to.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>

#include "common/kernels/precision.h"
#include "common/runtime/any_span.h"
#include "common/runtime/device.h"
#include "common/runtime/stream.h"

namespace tandem {

enum class Activation { kNone, kRelu };

// Rows of the batch, columns in, columns out.
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
};

// dx = dy . weight
struct LinearBackwardInput {
  LinearShape shape;
  ConstAnySpan dy;      // (batch, out)
  ConstAnySpan weight;  // (out, in)
  AnySpan dx;           // (batch, in)
};

// dweight = dy^T . x, dbias = column sums of dy. Overwrites, never accumulates. Gradients of
// parameters are fp32 whatever x and dy are: they come from the fp32 sums as those are.
struct LinearBackwardWeight {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan dy;      // (batch, out)
  Span<float> dweight;  // (out, in)
  Span<float> dbias{};  // (out), or empty where there is no bias
};

// dy = 0 where y <= 0, in place; y is what the ReLU returned.
struct ReluBackward {
  ConstAnySpan y;
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

// gradient = 2 (prediction - target) / n * loss_gradient: what arrives at a loss that others are
// added to.
struct MseLossBackward {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;
};

// sum = values[0] * weights[0] + values[1] * weights[1] + ...
struct WeightedSum {
  Span<const float> values;
  Span<const float> weights;
  Span<float> sum;  // one element
};

// velocity = momentum * velocity + gradient; weight -= learning_rate * velocity  (as torch's SGD)
struct SgdUpdate {
  Span<const float> gradient;
  Span<float> velocity;
  Span<float> weight;
  float learning_rate = 0;
  float momentum = 0;
};

// As torch's Adam, for step t = 1, 2, ...:
// first += (1 - beta1) (gradient - first); second = beta2 second + (1 - beta2) gradient^2;
// weight -= learning_rate / (1 - beta1^t) * first / (sqrt(second) / sqrt(1 - beta2^t) + epsilon)
struct AdamUpdate {
  Span<const float> gradient;
  Span<float> first;   // moment
  Span<float> second;  // moment
  Span<float> weight;
  // In double, as Python has them: 1 - beta2 in float would be off by 5e-5 of itself.
  double learning_rate = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  std::int64_t step = 0;  // t
};

enum class Distribution {
  kUniform,        // scale * [-1, 1), in steps of 2^-23
  kSmallIntegers,  // scale * {-1, 0, 1}: sums of them are exact, in any order
};

// values[i] = element `first + i` of the random sequence that `seed` names: a pure function of
// (seed, first + i), whatever the partition (tensor/philox.h).
struct FillRandom {
  Span<float> values;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  Distribution distribution = Distribution::kUniform;
  float scale = 1;
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
// tensor is divided after the cast. One of the two is fp32, the other is not; they do not overlap.
struct Convert {
  ConstAnySpan in;
  AnySpan out;
  float divisor = 1;
};

// Makes the rows of a matrix orthonormal, in place, from the first on (Gram-Schmidt): each loses
// its part along the rows before it and is divided by its length. That is done twice, so that rows
// that were nearly parallel end orthogonal too. A row with nothing left, such as one of zeros,
// becomes what is left of the first unit vector that leaves enough: the rows are a basis in any
// case. NaN and infinity make their row and those after it NaN.
struct Orthogonalise {
  std::int64_t rows = 0;  // at most as many as columns
  Span<float> matrix;     // (rows, columns)
};

// One back end's operations for one stream at a time: it caches primitives and scratch memory, so
// it is used with streams of one device and from one thread at a time.
class Operations {
 public:
  Operations() = default;
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  virtual ~Operations() = default;

  virtual void enqueue(Stream& stream, const LinearForward& op) = 0;
  virtual void enqueue(Stream& stream, const LinearBackwardInput& op) = 0;
  virtual void enqueue(Stream& stream, const LinearBackwardWeight& op) = 0;
  virtual void enqueue(Stream& stream, const ReluBackward& op) = 0;
  virtual void enqueue(Stream& stream, const MseLoss& op) = 0;
  virtual void enqueue(Stream& stream, const MseLossBackward& op) = 0;
  virtual void enqueue(Stream& stream, const WeightedSum& op) = 0;
  virtual void enqueue(Stream& stream, const SgdUpdate& op) = 0;
  virtual void enqueue(Stream& stream, const AdamUpdate& op) = 0;
  virtual void enqueue(Stream& stream, const FillRandom& op) = 0;
  virtual void enqueue(Stream& stream, const Scale& op) = 0;
  virtual void enqueue(Stream& stream, const Add& op) = 0;
  virtual void enqueue(Stream& stream, const AddScalar& op) = 0;
  virtual void enqueue(Stream& stream, const Subtract& op) = 0;
  virtual void enqueue(Stream& stream, const Convert& op) = 0;
  virtual void enqueue(Stream& stream, const Orthogonalise& op) = 0;
};

// The operations of the device's back end. `precision` says how fp32 operands are multiplied, as
// fp32 or as tf32, and with kBf16 that there will be bf16 ones. Throws a usage error where the back
// end has no operations yet, or the device not that precision: tf32 on the host, bf16 on a CPU that
// oneDNN has no kernels of that format for.
[[nodiscard]] std::unique_ptr<Operations> make_operations(Device& device,
                                                          Precision precision = Precision::kFp32);

}  // namespace tandem
