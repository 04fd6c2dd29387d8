// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark_flags.h"
#include "bench/collectives/collective.h"
#include "bench/job.h"
#include "common/runtime/host/parking.h"
#include "ddp/bucket_plan.h"

namespace tandem::bench {

struct CollectiveOptions {
  PlaceOptions place{.launch = Launch::kProcesses};
  std::vector<Collective> collectives{};
  std::vector<Bytes> sizes{};  // empty where they are a model's
  std::string sizes_of{};      // a model's name; empty: `sizes`
  ddp::BucketLimits bucket_limits{};
  std::vector<Form> forms{};  // of collectives that have two
  DType type = DType::kFloat32;
  ReduceOp op = ReduceOp::kAverage;
  int calls = 1;  // per sample
  int samples = 50;
  host::PeerWaits wait = host::PeerWaits::kPark;
  std::string flight_dir{};  // empty: no flight recorder
  BenchmarkFlags benchmark{};
};

// Throws usage errors; with --help, prints it and returns nothing.
[[nodiscard]] std::optional<CollectiveOptions> parse_collective_options(int argc,
                                                                        const char* const* argv);

// Of one size: elements of the larger buffer, and how many of a model's buckets have it.
struct SizeToMeasure {
  std::int64_t count = 0;
  int buckets = 0;  // 0: the size was given
};

// The sizes that the options give, in elements of their type. Throws a usage error for one that
// holds less than an element.
[[nodiscard]] std::vector<SizeToMeasure> sizes_given(const CollectiveOptions& options);

// The sizes of a model's buckets, each once.
[[nodiscard]] std::vector<SizeToMeasure> sizes_of_buckets(const std::vector<std::int64_t>& counts);

// Every collective at every size in every form, in this order. A size that ranks share in blocks is
// cut to a multiple of their number. Throws a usage error where a rank would have no element.
[[nodiscard]] std::vector<CollectiveCase> cases_of(const CollectiveOptions& options,
                                                   const std::vector<SizeToMeasure>& sizes);

}  // namespace tandem::bench
