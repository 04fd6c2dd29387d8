// SPDX-License-Identifier: Apache-2.0
//
// Softmax in parts, over one row that stays in the cache between the passes. Run by the caller at
// once; thread-safe on disjoint operands.
#pragma once

#include <cstdint>

namespace tandem::host {

// The largest of one or more values, NaN left out.
[[nodiscard]] float largest(std::int64_t count, const float* values);

// out[i] = e^(in[i] - base), in place too; base is the largest of `in`, or so near to the largest
// that nothing overflows. Returns the sum of all out[i], whose error does not grow with the count.
double exponentials(std::int64_t count, const float* in, float base, float* out);

// Returns the sum of exponentials alone.
[[nodiscard]] double sum_of_exponentials(std::int64_t count, const float* in, float base);

// values[i] *= factor
void multiply(std::int64_t count, float* values, float factor);

}  // namespace tandem::host
