// SPDX-License-Identifier: Apache-2.0
//
// How many steps a test makes that is to make many.
#pragma once

#include <algorithm>

namespace tandem::test {

// By ThreadSanitizer, in which a step takes ten times as long.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kIsWatched = true;
#else
inline constexpr bool kIsWatched = false;
#endif

// All of them, and under ThreadSanitizer as many as races need to show: by the third step buckets
// are made anew and every buffer has been used twice.
constexpr int steps_to_make(int steps) { return kIsWatched ? std::min(steps, 6) : steps; }

}  // namespace tandem::test
