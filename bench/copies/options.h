// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/copies/copy_case.h"
#include "bench/driver/benchmark_flags.h"
#include "bench/job/job.h"

namespace tandem::bench {

struct CopyOptions {
  PlaceOptions place{};
  std::vector<Bytes> sizes{};  // whole elements of fp32
  std::vector<Ways> ways{};
  int samples = 50;
  BenchmarkFlags benchmark{};
};

// Throws usage errors; with --help, prints the help and returns nothing.
[[nodiscard]] std::optional<CopyOptions> parse_copy_options(int argc, const char* const* argv);

}  // namespace tandem::bench
