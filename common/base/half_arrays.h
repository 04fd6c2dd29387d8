// SPDX-License-Identifier: Apache-2.0
//
// Conversions of arrays of 16-bit numbers from and to float, at the machine's vector width. The
// bits are the same as of one conversion after the other (half.h), except for a NaN's payload.
// Arrays do not overlap. Thread-safe.
#pragma once

#include <cstdint>

#include "common/base/half.h"

namespace tandem {

void narrow(std::int64_t count, const float* in, BFloat16* out);
void narrow(std::int64_t count, const float* in, Float16* out);

void widen(std::int64_t count, const BFloat16* in, float* out);
void widen(std::int64_t count, const Float16* in, float* out);

}  // namespace tandem
