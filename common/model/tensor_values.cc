// SPDX-License-Identifier: Apache-2.0
#include "common/model/tensor_values.h"

#include <algorithm>
#include <cmath>

#include "common/runtime/read_back.h"

namespace tandem {
namespace {

double difference_of(const std::vector<float>& reference, const std::vector<float>& other) {
  TANDEM_CHECK(reference.size() == other.size(), "tensors of {} and {} elements", reference.size(),
               other.size());
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (!std::isfinite(other[i])) return HUGE_VAL;
    largest = std::max(largest, std::abs(static_cast<double>(reference[i])));
    difference = std::max(difference, std::abs(static_cast<double>(reference[i]) - other[i]));
  }
  return largest == 0 ? difference : difference / largest;
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

double relative_difference(const TensorValues& reference, const TensorValues& other) {
  TANDEM_CHECK(reference.size() == other.size(), "{} and {} tensors", reference.size(),
               other.size());
  double worst = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    worst = std::max(worst, difference_of(reference[i], other[i]));
  }
  return worst;
}

}  // namespace tandem
