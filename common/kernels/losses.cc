// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/losses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

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

// Calls body(count, prediction, target, gradient) on fp32: on all elements at once, or on copies
// of one block after another, as a block stays in the L1 cache. Blocks keep the order of sums.
template <class Op, class Body>
void in_fp32(const Op& op, const Body& body) {
  constexpr std::int64_t kBlock = 64 * kSums;
  const std::int64_t count = op.prediction.size();
  const float* const target = op.target.data();
  if (op.prediction.dtype() == DType::kFloat32) {
    return body(count, op.prediction.template as<const float>().data(), target,
                data_or_null(op.gradient.template as<float>()));
  }
  const BFloat16* const prediction = op.prediction.template as<const BFloat16>().data();
  BFloat16* const gradient = data_or_null(op.gradient.template as<BFloat16>());
  std::array<float, kBlock> wide;
  std::array<float, kBlock> wide_gradient;
  for (std::int64_t done = 0; done < count; done += kBlock) {
    const std::int64_t block = std::min(kBlock, count - done);
    copy_row(block, prediction + done, wide.data());
    body(block, wide.data(), target + done, gradient == nullptr ? nullptr : wide_gradient.data());
    if (gradient != nullptr) copy_row(block, wide_gradient.data(), gradient + done);
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

std::int64_t right_class(Span<const float> target, std::int64_t row, std::int64_t classes) {
  return class_index(target.data()[row], classes, "target", row);
}

// Writes the gradient of all rows, unless it is empty, in three passes over each row, of which the
// first brings the row into the cache, and returns the sum of the losses. Rows of bf16 are taken as
// copies in `wide`.
template <class T, class Op>
double take_rows(const Op& op, double factor, float* wide) {
  const T* const prediction = op.prediction.template as<const T>().data();
  T* const gradient = data_or_null(op.gradient.template as<T>());
  double sum = 0;
  for (std::int64_t row = 0; row < op.target.size(); ++row) {
    const std::int64_t first = row * (op.classes + op.padding);
    const std::int64_t right = right_class(op.target, row, op.classes);
    const float* own = wide;
    float* result = wide;
    if constexpr (std::is_same_v<T, float>) {
      own = prediction + first;
      if (gradient != nullptr) result = gradient + first;
    } else {
      copy_row(op.classes, prediction + first, wide);
    }
    if (gradient == nullptr) {
      sum += row_loss(op.classes, own, right);
      continue;
    }
    sum += row_gradient(op.classes, own, right, factor, result);
    if constexpr (!std::is_same_v<T, float>) copy_row(op.classes, wide, gradient + first);
    std::fill_n(gradient + first + op.classes, op.padding, T());
  }
  return sum;
}

template <class Op>
double take_rows(const Op& op, double factor, std::byte* scratch) {
  auto* const wide = reinterpret_cast<float*>(scratch);
  return op.prediction.dtype() == DType::kBFloat16 ? take_rows<BFloat16>(op, factor, wide)
                                                   : take_rows<float>(op, factor, wide);
}

template <class Op>
Bytes size_of_row(const Op& op) {
  return bytes_of<float>(op.prediction.dtype() == DType::kFloat32 ? 0 : op.classes);
}

}  // namespace

void run(const MseLoss& op) {
  const std::int64_t all = op.prediction.size();
  double sums[kSums] = {};
  in_fp32(op,
          [&](std::int64_t count, const float* prediction, const float* target, float* gradient) {
            add_mse(count, prediction, target, gradient, 2.0F / static_cast<float>(all), sums);
          });
  *op.loss.data() = static_cast<float>(total(sums) / static_cast<double>(all));
}

void run(const MseLossBackward& op) {
  const float factor = 2.0F / static_cast<float>(op.prediction.size()) * *op.loss_gradient.data();
  in_fp32(op, [&](std::int64_t count, const float* prediction, const float* target,
                  float* gradient) { mse_backward(count, prediction, target, gradient, factor); });
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
