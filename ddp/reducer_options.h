// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/runtime/stream.h"

namespace tandem::options {
class Values;
}  // namespace tandem::options

namespace tandem::ddp {

struct HorovodOptions {
  Nanoseconds cycle = std::chrono::milliseconds(1);  // at least, from start to start
  Bytes fusion_threshold = mib(128);                 // 0: every gradient alone
  std::size_t cache_capacity = 1024;                 // tensors; 0: negotiate always
  // The wait for other ranks' gradients, once this rank's gradients are ready, until a
  // communication error.
  Nanoseconds deadline = std::chrono::seconds(60);
};

// Error feedback and warm start are always on, as they are by default in torch.
struct PowerSgdOptions {
  int rank = 1;  // rank of the two factors, where the matrix has no smaller rank

  // Steps that are averaged uncompressed at first: at least 2, since buckets are rebuilt after the
  // first step.
  std::int64_t start_step = 2;

  // A matrix is compressed where it has more than this many times the elements of its factors.
  double min_compression_rate = 2;

  std::uint64_t seed = 0;  // of the first right factors, the same on all ranks
};

enum class Compression {
  kNone,
  kBFloat16,  // gradients travel as 16-bit numbers
  kFloat16,
  kPowerSgd,  // matrices travel as two factors of low rank
};

struct CompressionOptions {
  Compression compression = Compression::kNone;
  PowerSgdOptions power_sgd{};  // for kPowerSgd
};

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

// The sizes at which buckets are closed.
struct BucketLimits {
  Bytes first = mib(1);  // the limit of the first bucket
  Bytes rest = mib(25);  // the limit of all other buckets
};

// How a rank's gradients become the average over ranks.
struct ReducerOptions {
  ReducerKind kind = ReducerKind::kBuckets;
  GradsMode grads = GradsMode::kCopy;
  Overlap overlap = Overlap::kOn;                     // off: all collectives after backward
  StreamPriority priority = StreamPriority::kNormal;  // of the collectives' stream; torch's default
  Graph graph = Graph::kDynamic;
  BucketLimits buckets{};
  int micro_batches = 1;  // accumulated without synchronising (torch's no_sync), then reduced once
  Join join = Join::kOff;
  CompressionOptions compression{};
  HorovodOptions horovod{};  // kHorovod uses these and micro_batches alone
};

// What a command line says of the reducer; Horovod's deadline is the job's to set.
[[nodiscard]] ReducerOptions reducer_options(const options::Values& values);

// What --bucket-mb and --first-bucket-mb say: torch's defaults, but with a size of the user's own
// no small first bucket.
[[nodiscard]] BucketLimits bucket_limits(const options::Values& values);

}  // namespace tandem::ddp
