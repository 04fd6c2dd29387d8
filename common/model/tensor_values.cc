// SPDX-License-Identifier: Apache-2.0
#include "common/model/tensor_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/base/checksum.h"
#include "common/runtime/copy.h"

namespace tandem {

namespace {

using Tensor = std::vector<float>;

double difference_of(const Tensor& reference, const Tensor& other) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(reference[i])));
    difference = std::max(difference, std::abs(static_cast<double>(reference[i]) - other[i]));
  }
  return largest == 0 ? difference : difference / largest;
}

double distance_of(const Tensor& reference, const Tensor& other) {
  double square = 0;
  double difference = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double value = reference[i];
    square += value * value;
    difference += (other[i] - value) * (other[i] - value);
  }
  return std::sqrt(square == 0 ? difference : difference / square);
}

double projection_error_of(const Tensor& reference, const Tensor& other) {
  double square = 0;
  double missing = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double value = reference[i];
    square += value * value;
    missing += value * (value - other[i]);
  }
  return square == 0 ? 0 : std::abs(missing) / square;
}

double worst_of(const TensorValues& reference, const TensorValues& other,
                double (*measure)(const Tensor&, const Tensor&)) {
  TANDEM_CHECK(reference.size() == other.size(), "{} and {} tensors", reference.size(),
               other.size());
  double worst = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    TANDEM_CHECK(reference[i].size() == other[i].size(), "tensors of {} and {} elements",
                 reference[i].size(), other[i].size());
    // Comparisons with NaN are false, so that a NaN would pass unnoticed.
    for (const Tensor* tensor : {&reference[i], &other[i]}) {
      if (!std::ranges::all_of(*tensor, [](float v) { return std::isfinite(v); })) return HUGE_VAL;
    }
    worst = std::max(worst, measure(reference[i], other[i]));
  }
  return worst;
}

}  // namespace

std::vector<float> values_of(Platform& platform, Span<const float> tensor) {
  return read_back<float>(platform.device(tensor.device().index), tensor);
}

TensorValues values_of(Platform& platform, const TensorList& tensors) {
  TensorValues values;
  for (const Span<const float> tensor : tensors) values.push_back(values_of(platform, tensor));
  return values;
}

std::uint64_t checksum(const TensorValues& tensors) {
  Fnv1a hash;
  for (const Tensor& tensor : tensors) {
    for (const float value : tensor) hash.add(std::bit_cast<std::uint32_t>(value));
  }
  return hash.value();
}

double relative_difference(const TensorValues& reference, const TensorValues& other) {
  return worst_of(reference, other, difference_of);
}

double relative_distance(const TensorValues& reference, const TensorValues& other) {
  return worst_of(reference, other, distance_of);
}

double projection_error(const TensorValues& reference, const TensorValues& other) {
  return worst_of(reference, other, projection_error_of);
}

}  // namespace tandem
