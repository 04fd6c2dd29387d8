// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"

namespace tandem {

// What came between ranks, of a communication error: who looks for the rank to blame reads this and
// no words.
struct PeerFailure {
  enum class Kind : std::uint8_t {
    kUnknown,   // not told, or no communication error
    kWaited,    // this rank's patience ended
    kDiverged,  // ranks came for different collectives
    kLost,      // a connection to another rank broke
    kAborted,   // others gave up first, and told this rank
  };
  Kind kind = Kind::kUnknown;
  std::vector<int> awaited{};  // ranks of the job that had not come; empty: not known
  Nanoseconds waited{0};       // of kWaited
  std::string call{};          // "all_reduce": in which it happened; empty: in none
  std::uint64_t sequence = 0;  // the call's number; 0: it has none
};

}  // namespace tandem
