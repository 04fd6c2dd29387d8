// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/pattern.h"

#include <algorithm>

#include "common/base/error.h"

namespace tandem::bench {
namespace {

constexpr std::int64_t kMostValues = 251;

// Up to here every whole number is one of the type's: 2 ^ (bits of its fraction + 1).
std::int64_t largest_exact(DType type) {
  switch (type) {
    case DType::kFloat32:
      return 1 << 24;
    case DType::kBFloat16:
      return 1 << 8;
    case DType::kFloat16:
      return 1 << 11;
  }
  return 0;
}

}  // namespace

Pattern::Pattern(DType type, int ranks) : ranks_(ranks) {
  const std::int64_t each = largest_exact(type) / ranks;
  if (each < 1) {
    fail(ErrorKind::kUsage,
         "--dtype={}: sums over {} ranks are not exact in it, so nothing could be checked: use {} "
         "ranks or fewer, or fp32",
         tandem::name_of(type), ranks, largest_exact(type));
  }
  values_ = static_cast<std::uint64_t>(std::min(each + 1, kMostValues));
}

Expectation::Expectation(const CollectiveCase& measured, const Pattern& pattern, int rank,
                         int ranks)
    : pattern_(pattern), block_(measured.count / ranks), rank_(rank) {
  switch (measured.collective) {
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
      source_ = Source::kSum;
      if (measured.op == ReduceOp::kAverage) factor_ = 1.0F / static_cast<float>(ranks);
      break;
    case Collective::kReduce:
      if (rank == kRoot) source_ = Source::kSum;  // others keep their own
      break;
    case Collective::kAllGather:
    case Collective::kGather:
      source_ = Source::kOwner;
      break;
    case Collective::kBroadcast:
    case Collective::kScatter:
      rank_ = kRoot;
      break;
    case Collective::kSendRecv:
      rank_ = (rank + ranks - 1) % ranks;
      break;
  }
}

}  // namespace tandem::bench
