// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/naive_operands.h"

namespace tandem {

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
