// SPDX-License-Identifier: Apache-2.0
//
// What ranks tell one another in a cycle, as texts for a communicator's all_gather. Numbers are
// sent as they lie in memory: all ranks of a job run the same program on the same kind of machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddp/horovod/negotiation.h"

namespace tandem::ddp::horovod {

// Sent by every rank in every cycle: a byte of flags and a bit per cached tensor.
struct CycleReport {
  bool uncached = false;     // some of what is ready is not in the cache: negotiate
  bool shut_down = false;    // this rank ends here
  std::vector<bool> hits{};  // by position in the cache: ready here

  bool operator==(const CycleReport&) const = default;
};

[[nodiscard]] std::string encode(const CycleReport& report);

// Of all ranks' reports on a cache of `positions` tensors: hits where all have them, flags where
// any has. Throws a communication error on a text that is none.
[[nodiscard]] CycleReport combine(const std::vector<std::string>& reports, std::size_t positions);

// Sent only in cycles that negotiate: to the coordinator, and back. Decoding throws as above.
[[nodiscard]] std::string encode(const std::vector<Request>& requests);
[[nodiscard]] std::string encode(const std::vector<std::int64_t>& tensors);
[[nodiscard]] std::vector<Request> decode_requests(const std::string& text);
[[nodiscard]] std::vector<std::int64_t> decode_tensors(const std::string& text);

}  // namespace tandem::ddp::horovod
