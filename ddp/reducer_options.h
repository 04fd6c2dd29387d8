// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/units.h"
#include "ddp/compression/compression_options.h"
#include "ddp/horovod/horovod_options.h"

namespace tandem::options {
class Values;
}  // namespace tandem::options

namespace tandem::ddp {

enum class ReducerKind {
  kBuckets,  // torch's buckets: settled after the first step
  kHorovod,  // fused as gradients become ready
};

enum class GradsMode {
  kCopy,   // torch's default: each gradient is copied into its bucket, divided on the way, and back
  kViews,  // backward writes straight into the buckets; the collective averages
};

enum class Overlap { kOn, kOff };

enum class Graph {
  kDynamic,  // torch's default: any step may make other gradients, or in another order
  kStatic,   // torch's static_graph: the first step learns, and reduces after backward
};

// The treatment of ranks without data in torch's Join, and the divisor of the sums.
enum class Join {
  kOff,     // every rank has data in every step
  kWorld,   // the divisor is the number of all ranks (torch's default)
  kActive,  // the divisor is the number of ranks with data
};

// How a rank's gradients become the average over ranks.
struct ReducerOptions {
  ReducerKind kind = ReducerKind::kBuckets;
  GradsMode grads = GradsMode::kCopy;
  Overlap overlap = Overlap::kOn;  // off: all collectives after backward
  Graph graph = Graph::kDynamic;
  Bytes bucket_cap = mib(25);
  Bytes first_bucket_cap = mib(1);
  int micro_batches =
      1;  // accumulated in a step without synchronising (torch's no_sync), then once
  Join join = Join::kOff;
  CompressionOptions compression{};
  HorovodOptions horovod{};  // for kHorovod, which has micro_batches of the above alone
};

// The sizes at which buckets are closed.
struct BucketLimits {
  Bytes first = mib(1);  // the limit of the first bucket
  Bytes rest = mib(25);  // the limit of all other buckets
};

// What a command line says of the reducer; Horovod's deadline is the job's to set.
[[nodiscard]] ReducerOptions reducer_options(const options::Values& values);

// What --bucket-mb and --first-bucket-mb say: torch's defaults, but with a size of the user's own
// no small first bucket.
[[nodiscard]] BucketLimits bucket_limits(const options::Values& values);

}  // namespace tandem::ddp
