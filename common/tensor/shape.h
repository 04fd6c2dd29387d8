// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace tandem {

// The extents of a dense row-major tensor, outermost first. A scalar has no dimensions.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::vector<std::int64_t>(dims)) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {
    for (const std::int64_t dim : dims_) TANDEM_CHECK(dim >= 0, "a dimension of {}", dim);
  }

  [[nodiscard]] const std::vector<std::int64_t>& dims() const { return dims_; }

  // The number of elements, the product of the extents.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t dim : dims_) product *= dim;
    return product;
  }

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> dims_;
};

[[nodiscard]] std::string to_string(const Shape& shape);  // "64x1024", "scalar"

}  // namespace tandem
