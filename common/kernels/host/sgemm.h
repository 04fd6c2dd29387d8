// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's sgemm, for products inside an operation. Run by the caller at once, with the caller's
// OpenMP thread count; thread-safe on disjoint outputs. Sizes unchecked.
#pragma once

#include <cstdint>

namespace tandem::host {

// A row-major matrix, `row_length` elements from one row to the next, read as its transpose where
// marked as transposed.
struct Factor {
  const float* first;
  std::int64_t row_length;
  char transposed = 'N';
};

// product = alpha a b + beta product, of (m, k) and (k, n); with beta 0 the product is only
// written.
struct MatrixProduct {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  Factor a;
  Factor b;
  float* product;  // (m, n)
  std::int64_t row_length;
  float alpha = 1;
  float beta = 0;
};

// Calls oneDNN's sgemm, in as many threads as the calling thread may use. A failure is an error of
// kind failure. Thread-safe.
void sgemm(const MatrixProduct& p);

}  // namespace tandem::host
