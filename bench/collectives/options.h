// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/driver/google_benchmark.h"
#include "bench/job/job.h"

namespace tandem::bench {

struct CollectiveOptions {
  JobOptions job{.launch = Launch::kProcesses};
  std::vector<Collective> collectives{};
  std::vector<Bytes> sizes{};
  std::vector<BufferUse> forms{};  // forms of collectives that have two forms
  DType type = DType::kFloat32;
  ReduceOp op = ReduceOp::kAverage;
  std::optional<int> calls{};  // calls per sample; unset: calls_per_sample() decides
  int samples = 50;
  std::string flight_dir{};  // empty: no flight recorder
  BenchmarkFlags benchmark{};
};

// Throws usage errors; with --help, prints the help and returns nothing.
[[nodiscard]] std::optional<CollectiveOptions> parse_collective_options(int argc,
                                                                        const char* const* argv);

// The calls per sample as given, else as many as `backend` has by default.
[[nodiscard]] int calls_per_sample(const CollectiveOptions& options, Backend backend);

// Every collective at every size in every form, in this order, with one call per sample. A size
// that ranks share in blocks is cut to a multiple of the number of ranks. Throws a usage error
// where a rank would have no element.
[[nodiscard]] std::vector<CollectiveCase> cases_of(const CollectiveOptions& options);

}  // namespace tandem::bench
