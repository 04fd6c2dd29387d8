// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/runtime/span.h"

namespace tandem {

enum class Distribution {
  kUniform,        // scale * [-1, 1), in steps of 2^-23
  kSmallIntegers,  // scale * {-1, 0, 1}: sums of these are exact, in any order
};

// values[i] = element `first + i` of the random sequence that `seed` names: a pure function of
// (seed, first + i), whatever the partition (tensor/philox.h).
struct FillRandom {
  Span<float> values;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  Distribution distribution = Distribution::kUniform;
  float scale = 1;
};

// values = constant
struct Fill {
  Span<float> values;
  float constant = 0;
};

// out = factor * in; in place allowed.
struct Scale {
  Span<const float> in;
  Span<float> out;
  float factor = 1;
};

// values += constant
struct AddScalar {
  Span<float> values;
  float constant = 0;
};

// sum = a + b; sum may be a.
struct Add {
  Span<const float> a;
  Span<const float> b;
  Span<float> sum;
};

// difference = a - b; difference may be a or b.
struct Subtract {
  Span<const float> a;
  Span<const float> b;
  Span<float> difference;
};

// out = in as out's type, divided by `divisor` in that type: two roundings, as where a narrow
// tensor is divided after the cast. Exactly one of `in` and `out` is fp32; the two do not overlap.
struct Convert {
  ConstAnySpan in;
  AnySpan out;
  float divisor = 1;
};

// Makes the rows of a matrix orthonormal, in place, from the first on (Gram-Schmidt): each row
// loses its part along the rows before and is divided by its length. The projection is done twice,
// so that rows that were nearly parallel end orthogonal too. A row with nothing left, such as one
// of zeros, becomes the remainder of the first unit vector that leaves enough: the rows are a basis
// in any case. NaN and infinity make their row and the rows after that row NaN.
struct Orthogonalise {
  std::int64_t rows = 0;  // at most as many as columns
  Span<float> matrix;     // (rows, columns)
};

}  // namespace tandem
