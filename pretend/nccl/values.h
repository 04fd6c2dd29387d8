// SPDX-License-Identifier: Apache-2.0
//
// Collectives that are computed for real: on integers, and on single values of any type, up to
// kRealBytes a rank. Shapes that DDP compares, its maps of used parameters, barriers and pickled
// objects are of this kind; gradients and weights are not.
#pragma once

#include <cstdint>

#include "pretend/core/record.h"
#include "pretend/nccl/meeting.h"

namespace tandem::pretend {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kGather,
  kScatter,
  kAllToAll,
  kSend,
  kReceive,
};

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  int64_t count = 0;  // elements, as the caller gave them: of one rank's part where there are parts
  ElementType type = ElementType::kF32;
  int operation = 0;  // ncclRedOp_t
  int root = -1;      // or the peer; -1: none
};

[[nodiscard]] const char* name_of(CollectiveKind kind);

[[nodiscard]] inline bool is_of_two(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive;
}

// The bytes that a rank puts down, and those that it gets.
[[nodiscard]] uint64_t sent_bytes(const Collective& collective, int ranks);
[[nodiscard]] uint64_t received_bytes(const Collective& collective, int rank, int ranks);

[[nodiscard]] bool is_computed(const Collective& collective, int ranks);

// Writes what this rank gets of a complete deposit to where it belongs. Sender and receiver meet
// by themselves, the sender as rank 0.
void compute(const Collective& collective, const Meeting& meeting, uint64_t number);

}  // namespace tandem::pretend
