// SPDX-License-Identifier: Apache-2.0
//
// The matrix products of the linear operations as bare calls of oneDNN's sgemm: no bias, no
// activation, nothing prepared. The measure of the operations and the training step, and the
// measured peak of a core. Run by the caller at once, with the caller's OpenMP thread count;
// thread-safe on disjoint outputs. Operands as in operations.h and fp32; sizes unchecked.
#pragma once

#include <cstdint>

#include "common/kernels/operations.h"

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

void bare_product(const LinearForward& op);         // y = x . weight^T
void bare_product(const LinearBackwardInput& op);   // dx = dy . weight
void bare_product(const LinearBackwardWeight& op);  // dweight = dy^T . x

}  // namespace tandem::host
