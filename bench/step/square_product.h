// SPDX-License-Identifier: Apache-2.0
//
// The product of two square matrices, to measure a device by.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "common/kernels/operations.h"
#include "common/runtime/device.h"

namespace tandem::bench {

[[nodiscard]] constexpr LinearShape square_product(std::int64_t size) {
  return {.batch = size, .in = size, .out = size};
}

// A product y = x . weight^T on one device, without bias or activation, of uniform random numbers
// in [-1, 1), and the memory of its operands, of `type`.
class SquareProduct {
 public:
  // Waits until the operands are filled.
  SquareProduct(Device& device, Operations& operations, Stream& stream, DType type,
                std::int64_t size);

  void enqueue() { operations_.enqueue(stream_, op_); }

 private:
  void fill(Device& device, AnySpan values, std::uint64_t seed);

  Operations& operations_;
  Stream& stream_;
  const std::int64_t count_;  // elements of a matrix
  std::array<std::unique_ptr<Buffer>, 3> matrices_;
  LinearForward op_;
};

}  // namespace tandem::bench
