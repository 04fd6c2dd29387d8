// SPDX-License-Identifier: Apache-2.0
//
// The messages that ranks exchange in a cycle, as texts for a communicator's all_gather. Numbers
// are sent as they lie in memory, since all ranks of a job run the same program on the same kind of
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddp/horovod/negotiation.h"

namespace tandem::ddp::horovod {

// Sent by every rank in every cycle: a byte of flags and a bit per cached tensor.
struct CycleReport {
  bool uncached = false;     // a ready tensor is not in the cache: negotiate
  bool shut_down = false;    // this rank ends its cycles
  std::vector<bool> hits{};  // by position in the cache: the tensor is ready here

  bool operator==(const CycleReport&) const = default;
};

[[nodiscard]] std::string encode(const CycleReport& report);

// Combines all ranks' reports on a cache of `positions` tensors: hits where all ranks have one,
// flags where any rank has one. Throws a communication error on a text that is no report.
[[nodiscard]] CycleReport combine(const std::vector<std::string>& reports, std::size_t positions);

// Sent only in cycles that negotiate, to the coordinator and back. decode() throws as combine()
// does.
[[nodiscard]] std::string encode(const std::vector<Request>& requests);
[[nodiscard]] std::string encode(const std::vector<std::int64_t>& tensors);
[[nodiscard]] std::vector<Request> decode_requests(const std::string& text);
[[nodiscard]] std::vector<std::int64_t> decode_tensors(const std::string& text);

}  // namespace tandem::ddp::horovod
