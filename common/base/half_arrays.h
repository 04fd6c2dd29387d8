// SPDX-License-Identifier: Apache-2.0
//
// Arrays of 16-bit numbers from and to float, at the machine's vector width: the same bits as one
// by one (half.h), save for what a NaN carries beside its sign. Arrays do not overlap. Thread-safe.
#pragma once

#include <cstdint>

#include "common/base/half.h"

namespace tandem {

void narrow(std::int64_t count, const float* in, BFloat16* out);
void narrow(std::int64_t count, const float* in, Float16* out);

void widen(std::int64_t count, const BFloat16* in, float* out);
void widen(std::int64_t count, const Float16* in, float* out);

}  // namespace tandem
