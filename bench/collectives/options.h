// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/driver/google_benchmark.h"
#include "bench/job/job.h"
#include "ddp/bucket_plan.h"

namespace tandem::bench {

struct CollectiveOptions {
  JobOptions job{.launch = Launch::kProcesses};
  std::vector<Collective> collectives{};
  std::vector<Bytes> sizes{};  // empty where the sizes are a model's
  std::string sizes_of{};      // a model's name; empty: `sizes` holds the sizes
  ddp::BucketLimits bucket_limits{};
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

// A size in elements of the larger buffer, and how many of a model's buckets have that size.
struct SizeToMeasure {
  std::int64_t count = 0;
  int buckets = 0;  // 0: the size was given
};

// The sizes that the options give, in elements of the options' type. Throws a usage error for a
// size that holds less than an element.
[[nodiscard]] std::vector<SizeToMeasure> sizes_given(const CollectiveOptions& options);

// The sizes of a model's buckets, each size once.
[[nodiscard]] std::vector<SizeToMeasure> sizes_of_buckets(const std::vector<std::int64_t>& counts);

// Every collective at every size in every form, in this order, with one call per sample. A size
// that ranks share in blocks is cut to a multiple of the number of ranks. Throws a usage error
// where a rank would have no element.
[[nodiscard]] std::vector<CollectiveCase> cases_of(const CollectiveOptions& options,
                                                   const std::vector<SizeToMeasure>& sizes);

}  // namespace tandem::bench
