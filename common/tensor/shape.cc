// SPDX-License-Identifier: Apache-2.0
#include "common/tensor/shape.h"

#include <fmt/ranges.h>

namespace tandem {

std::string to_string(const Shape& shape) {
  if (shape.dims().empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape.dims(), "x"));
}

}  // namespace tandem
