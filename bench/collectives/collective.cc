// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/collective.h"

namespace tandem::bench {

bool is_in_blocks(Collective collective) {
  return collective == Collective::kScatter || collective == Collective::kGather;
}

bool is_repeatable(const CollectiveCase& measured) {
  if (measured.collective == Collective::kReduce) return false;
  return measured.collective != Collective::kAllReduce || measured.form == BufferUse::kOutOfPlace;
}

bool grows(const CollectiveCase& measured) {
  if (is_repeatable(measured)) return false;
  return measured.collective == Collective::kReduce || measured.op == ReduceOp::kSum;
}

double bus_factor(Collective collective, int ranks) {
  const double share_of_others = static_cast<double>(ranks - 1) / ranks;
  if (collective == Collective::kAllReduce) return 2 * share_of_others;
  return is_in_blocks(collective) ? share_of_others : 1;
}

std::string name_of(const CollectiveCase& measured, int ranks) {
  std::string name =
      fmt::format("{}/ranks:{}/bytes:{}/{}", name_of(measured.collective, kCollectives), ranks,
                  measured.size().value, tandem::name_of(measured.type));
  if (measured.form == BufferUse::kInPlace) name += "/in_place";
  if (measured.form == BufferUse::kOutOfPlace) name += "/out_of_place";
  if (measured.collective == Collective::kAllReduce && measured.op == ReduceOp::kSum)
    name += "/sum";
  if (measured.calls > 1) name += fmt::format("/free-running:{}", measured.calls);
  return name;
}

Expectation::Expectation(const CollectiveCase& measured, const Pattern& pattern, int rank,
                         int ranks)
    : pattern_(pattern), block_(measured.count / ranks), rank_(rank) {
  switch (measured.collective) {
    case Collective::kAllReduce:
      source_ = Source::kSum;
      if (measured.op == ReduceOp::kAverage) factor_ = 1.0F / static_cast<float>(ranks);
      break;
    case Collective::kReduce:
      if (rank == kRoot) source_ = Source::kSum;  // other ranks keep their own values
      break;
    case Collective::kGather:
      source_ = Source::kOwner;
      break;
    case Collective::kBroadcast:
    case Collective::kScatter:
      rank_ = kRoot;
      break;
  }
}

}  // namespace tandem::bench
