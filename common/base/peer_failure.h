// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"

namespace tandem {

// The cause of a communication error, which code that looks for the rank to blame reads instead of
// the message.
struct PeerFailure {
  enum class Kind : std::uint8_t {
    kUnknown,   // not known, or no communication error
    kWaited,    // this rank waited past its deadline
    kDiverged,  // ranks enqueued different collectives
    kLost,      // a connection to another rank broke
    kAborted,   // another rank gave up first and told this rank
  };
  Kind kind = Kind::kUnknown;
  std::vector<int> awaited{};  // job ranks that had not come; empty: not known
  Nanoseconds waited{0};       // how long this rank waited, of kWaited
  std::string call{};          // the failed call, "all_reduce"; empty: no call
  std::uint64_t sequence = 0;  // the call's number; 0: no number
};

}  // namespace tandem
