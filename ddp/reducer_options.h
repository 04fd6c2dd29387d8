// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/units.h"
#include "common/runtime/stream.h"

namespace tandem::options {
class Values;
}  // namespace tandem::options

namespace tandem::ddp {

enum class Compression {
  kNone,
  kBFloat16,  // gradients travel as 16-bit numbers
  kFloat16,
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

// The sizes at which buckets are closed.
struct BucketLimits {
  Bytes first = mib(1);  // the limit of the first bucket
  Bytes rest = mib(25);  // the limit of all other buckets
};

// How a rank's gradients become the average over ranks.
struct ReducerOptions {
  GradsMode grads = GradsMode::kCopy;
  Overlap overlap = Overlap::kOn;                     // off: all collectives after backward
  StreamPriority priority = StreamPriority::kNormal;  // of the collectives' stream; torch's default
  Graph graph = Graph::kDynamic;
  BucketLimits buckets{};
  int micro_batches = 1;  // accumulated without synchronising (torch's no_sync), then reduced once
  Compression compression = Compression::kNone;
};

// The reducer that a command line asks for.
[[nodiscard]] ReducerOptions reducer_options(const options::Values& values);

// The sizes that --bucket-mb and --first-bucket-mb give: torch's defaults, but with a size of the
// user's own no small first bucket.
[[nodiscard]] BucketLimits bucket_limits(const options::Values& values);

}  // namespace tandem::ddp
