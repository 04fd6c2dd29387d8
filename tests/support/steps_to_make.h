// SPDX-License-Identifier: Apache-2.0
//
// How many steps a test makes that is to make many.
#pragma once

#include <algorithm>

namespace tandem::test {

// All of them, and under ThreadSanitizer as many as races need to show: by the third step buckets
// are made anew and every buffer has been used twice.
constexpr int steps_to_make(int steps) {
#if defined(__SANITIZE_THREAD__)
  return std::min(steps, 6);
#else
  return steps;
#endif
}

}  // namespace tandem::test
