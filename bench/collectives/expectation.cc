// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/expectation.h"

namespace tandem::bench {

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
      if (rank == kRoot) source_ = Source::kSum;  // other ranks keep their own values
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
