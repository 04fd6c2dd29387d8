// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/values.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

enum Reduction : int { kSum = 0, kProduct = 1, kLargest = 2, kLeast = 3, kAverage = 4 };

bool is_integer(ElementType type) { return type >= ElementType::kI8 && type <= ElementType::kU64; }

bool can_reduce(ElementType type) {
  return is_integer(type) || type == ElementType::kF32 || type == ElementType::kF64;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kReduceScatter;
}

template <typename Value>
Value combine(int operation, Value one, Value other) {
  switch (operation) {
    case kProduct:
      return static_cast<Value>(one * other);
    case kLargest:
      return std::max(one, other);
    case kLeast:
      return std::min(one, other);
    default:
      return static_cast<Value>(one + other);
  }
}

// Elements [first, first + count) of all ranks' deposits, reduced in rank order.
struct Reduced {
  int64_t first;
  int64_t count;
  void* to;
};

template <typename Value>
void reduce_as(const Collective& collective, const Meeting& meeting, uint64_t number,
               const Reduced& part) {
  auto* const to = static_cast<Value*>(part.to);
  for (int64_t at = 0; at < part.count; ++at) {
    Value sum{};
    for (int rank = 0; rank < meeting.ranks(); ++rank) {
      const auto* const from = reinterpret_cast<const Value*>(meeting.deposited_by(rank, number));
      const Value value = from[part.first + at];
      sum = rank == 0 ? value : combine(collective.operation, sum, value);
    }
    to[at] = collective.operation == kAverage
                 ? static_cast<Value>(sum / static_cast<Value>(meeting.ranks()))
                 : sum;
  }
}

void reduce(const Collective& collective, const Meeting& meeting, uint64_t number,
            const Reduced& part) {
  switch (collective.type) {
    case ElementType::kI8:
      return reduce_as<int8_t>(collective, meeting, number, part);
    case ElementType::kU8:
      return reduce_as<uint8_t>(collective, meeting, number, part);
    case ElementType::kI32:
      return reduce_as<int32_t>(collective, meeting, number, part);
    case ElementType::kU32:
      return reduce_as<uint32_t>(collective, meeting, number, part);
    case ElementType::kI64:
      return reduce_as<int64_t>(collective, meeting, number, part);
    case ElementType::kU64:
      return reduce_as<uint64_t>(collective, meeting, number, part);
    case ElementType::kF32:
      return reduce_as<float>(collective, meeting, number, part);
    case ElementType::kF64:
      return reduce_as<double>(collective, meeting, number, part);
    default:
      return;
  }
}

// Each rank's part after the other: of what rank `at` put down, the piece that begins at `offset`.
void concatenate(const Meeting& meeting, uint64_t number, void* to, uint64_t bytes,
                 uint64_t offset) {
  for (int rank = 0; rank < meeting.ranks(); ++rank) {
    std::memcpy(static_cast<char*>(to) + static_cast<uint64_t>(rank) * bytes,
                meeting.deposited_by(rank, number) + offset, bytes);
  }
}

}  // namespace

const char* name_of(CollectiveKind kind) {
  constexpr auto kNames = std::to_array<const char*>({"all-reduce", "reduce", "broadcast",
                                                      "all-gather", "reduce-scatter", "gather",
                                                      "scatter", "all-to-all", "send", "receive"});
  return kNames[static_cast<size_t>(kind)];
}

uint64_t sent_bytes(const Collective& collective, int ranks) {
  const auto part = static_cast<uint64_t>(collective.count * bytes_of(collective.type));
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kScatter:
      return part * static_cast<uint64_t>(ranks);
    default:
      return part;
  }
}

uint64_t received_bytes(const Collective& collective, int rank, int ranks) {
  const auto part = static_cast<uint64_t>(collective.count * bytes_of(collective.type));
  switch (collective.kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
      return part * static_cast<uint64_t>(ranks);
    case CollectiveKind::kGather:
      return rank == collective.root ? part * static_cast<uint64_t>(ranks) : 0;
    case CollectiveKind::kReduce:
      return rank == collective.root ? part : 0;
    case CollectiveKind::kSend:
      return 0;
    default:
      return part;
  }
}

bool is_computed(const Collective& collective, int ranks) {
  if (sent_bytes(collective, ranks) > kRealBytes) return false;
  if (!is_integer(collective.type) && collective.count > 1) return false;
  return !reduces(collective.kind) ||
         (can_reduce(collective.type) && collective.operation <= kAverage);
}

void compute(const Collective& collective, const Meeting& meeting, uint64_t number) {
  const auto part = static_cast<uint64_t>(collective.count * bytes_of(collective.type));
  const bool is_root = meeting.rank() == collective.root;
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      return reduce(collective, meeting, number, {0, collective.count, collective.receive});
    case CollectiveKind::kReduce:
      return is_root
                 ? reduce(collective, meeting, number, {0, collective.count, collective.receive})
                 : void();
    case CollectiveKind::kReduceScatter:
      return reduce(collective, meeting, number,
                    {meeting.rank() * collective.count, collective.count, collective.receive});
    case CollectiveKind::kBroadcast:
      std::memcpy(collective.receive, meeting.deposited_by(collective.root, number), part);
      return;
    case CollectiveKind::kScatter:
      std::memcpy(collective.receive,
                  meeting.deposited_by(collective.root, number) +
                      static_cast<uint64_t>(meeting.rank()) * part,
                  part);
      return;
    case CollectiveKind::kAllGather:
      return concatenate(meeting, number, collective.receive, part, 0);
    case CollectiveKind::kGather:
      return is_root ? concatenate(meeting, number, collective.receive, part, 0) : void();
    case CollectiveKind::kAllToAll:
      return concatenate(meeting, number, collective.receive, part,
                         static_cast<uint64_t>(meeting.rank()) * part);
    case CollectiveKind::kReceive:
      std::memcpy(collective.receive, meeting.deposited_by(0, number), part);
      return;
    case CollectiveKind::kSend:
      return;
  }
}

}  // namespace tandem::pretend
