// SPDX-License-Identifier: Apache-2.0
#include "bench/step/square_product.h"

namespace tandem::bench {

SquareProduct::SquareProduct(Device& device, Operations& operations, Stream& stream, DType type,
                             std::int64_t size)
    : operations_(operations), stream_(stream), count_(size * size) {
  for (auto& matrix : matrices_) matrix = device.allocate(Bytes{count_ * size_of(type)});
  op_ = {.shape = square_product(size),
         .x = matrices_[0]->as(type, count_),
         .weight = matrices_[1]->as(type, count_),
         .bias = {},
         .y = matrices_[2]->as(type, count_)};
  fill(device, matrices_[0]->as(type, count_), 1);
  fill(device, matrices_[1]->as(type, count_), 2);
}

// FillRandom writes fp32: other types are cast from fp32.
void SquareProduct::fill(Device& device, AnySpan values, std::uint64_t seed) {
  if (values.dtype() == DType::kFloat32) {
    operations_.enqueue(stream_, FillRandom{.values = values.as<float>(), .seed = seed});
    return stream_.synchronize();
  }
  const auto wide = device.allocate(bytes_of<float>(count_));
  operations_.enqueue(stream_, FillRandom{.values = wide->as<float>(count_), .seed = seed});
  operations_.enqueue(stream_, Convert{.in = wide->as<float>(count_), .out = values});
  stream_.synchronize();
}

}  // namespace tandem::bench
