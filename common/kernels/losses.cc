// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/losses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "common/base/half.h"
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

// Adds the squared differences to `sums`; writes a gradient only where `gradient` has memory. The
// gradient's loop reads again the elements that the sum's loop has just brought into the cache.
TANDEM_VECTOR_CLONES
void add_mse(std::int64_t count, const float* prediction, const float* target, float* gradient,
             float factor, double* sums) {
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
}

// Calls body(prediction, gradient) on `count` elements from `first` on in fp32: those themselves,
// or a copy of bf16 in `wide`, from which the gradient is rounded. Without a gradient body() gets
// null.
template <class Op, class Body>
void in_fp32(const Op& op, std::int64_t first, std::int64_t count, float* wide, const Body& body) {
  const ConstAnySpan prediction = op.prediction.subspan(first, count);
  const AnySpan gradient = op.gradient.empty() ? AnySpan() : op.gradient.subspan(first, count);
  if (prediction.dtype() == DType::kFloat32) {
    return body(prediction.as<const float>().data(), data_or_null(gradient.as<float>()));
  }
  copy_row(count, prediction.as<const BFloat16>().data(), wide);
  body(wide, gradient.empty() ? nullptr : wide);
  if (!gradient.empty()) copy_row(count, wide, gradient.as<BFloat16>().data());
}

// Calls body(count, prediction, target, gradient) on all elements in fp32: at once, or bf16 in
// blocks, as a block stays in the L1 cache. Blocks keep the order of sums.
template <class Op, class Body>
void in_blocks(const Op& op, const Body& body) {
  constexpr std::int64_t kBlock = 64 * kSums;
  const std::int64_t all = op.prediction.size();
  const std::int64_t block = op.prediction.dtype() == DType::kFloat32 ? all : kBlock;
  std::array<float, kBlock> wide;
  for (std::int64_t first = 0; first < all; first += block) {
    const std::int64_t count = std::min(block, all - first);
    in_fp32(op, first, count, wide.data(), [&](const float* prediction, float* gradient) {
      body(count, prediction, op.target.data() + first, gradient);
    });
  }
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

// Writes the gradient of all rows, unless it is empty, in three passes over each row, of which the
// first brings the row into the cache, and returns the sum of the losses.
template <class Op>
double take_rows(const Op& op, double factor, std::byte* scratch) {
  double sum = 0;
  for (std::int64_t row = 0; row < op.target.size(); ++row) {
    const std::int64_t first = row * (op.classes + op.padding);
    const std::int64_t right = class_index(op.target.data()[row], op.classes, "target", row);
    in_fp32(op, first, op.classes, reinterpret_cast<float*>(scratch),
            [&](const float* prediction, float* gradient) {
              sum += gradient == nullptr
                         ? row_loss(op.classes, prediction, right)
                         : row_gradient(op.classes, prediction, right, factor, gradient);
            });
    if (op.gradient.empty()) continue;
    const ByteSpan padding = op.gradient.subspan(first + op.classes, op.padding).bytes();
    std::fill_n(padding.data(), padding.size(), std::byte{0});
  }
  return sum;
}

template <class Op>
Bytes size_of_row(const Op& op) {
  return bytes_of<float>(op.prediction.dtype() == DType::kFloat32 ? 0 : op.classes);
}

}  // namespace

void run(const MseLoss& op) {
  const std::int64_t all = op.prediction.size();
  double sums[kSums] = {};
  in_blocks(op,
            [&](std::int64_t count, const float* prediction, const float* target, float* gradient) {
              add_mse(count, prediction, target, gradient, 2.0F / static_cast<float>(all), sums);
            });
  *op.loss.data() = static_cast<float>(total(sums) / static_cast<double>(all));
}

void run(const MseLossBackward& op) {
  const float factor = 2.0F / static_cast<float>(op.prediction.size()) * *op.loss_gradient.data();
  in_blocks(op,
            [&](std::int64_t count, const float* prediction, const float* target, float* gradient) {
              mse_backward(count, prediction, target, gradient, factor);
            });
}

Bytes scratch_size(const CrossEntropyLoss& op) { return size_of_row(op); }

void run(const CrossEntropyLoss& op, std::byte* scratch) {
  const auto rows = static_cast<double>(op.target.size());
  *op.loss.data() = static_cast<float>(take_rows(op, 1 / rows, scratch) / rows);
}

Bytes scratch_size(const CrossEntropyLossBackward& op) { return size_of_row(op); }

void run(const CrossEntropyLossBackward& op, std::byte* scratch) {
  const auto rows = static_cast<double>(op.target.size());
  take_rows(op, static_cast<double>(*op.loss_gradient.data()) / rows, scratch);
}

}  // namespace tandem::host
