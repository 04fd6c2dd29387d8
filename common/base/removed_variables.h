// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem {

// Whether a variable ("NAME" or "NAME=value") would change what is measured: thread counts and
// kernel choices of libraries, and the twins that Google Benchmark's flags have in the environment.
// The prefixes are the same as in tools/lib/setup.sh and tools/torch/twin/place.py.
[[nodiscard]] constexpr bool changes_the_measurement(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kPrefixes{"OMP_", "GOMP_", "KMP_",    "OPENBLAS_",
                                                      "MKL_", "DNNL_", "ONEDNN_", "BENCHMARK_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

}  // namespace tandem
