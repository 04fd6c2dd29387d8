// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "ddp/horovod/control_messages.h"
#include "ddp/horovod/negotiation.h"
#include "ddp/horovod/response_cache.h"

namespace tandem::ddp::horovod {

// Gathers every rank's text, by rank; `mine` is this rank's. All ranks call the exchange, which
// blocks until every rank has called.
using Exchange = std::function<std::vector<std::string>(const std::string& mine)>;

// The way in which ranks agreed in a cycle.
enum class CyclePath {
  kIdle,        // no tensor was ready on all ranks, and none was new
  kCached,      // the bits of cached tensors were enough
  kNegotiated,  // rank 0 negotiated
};

// The work of all ranks in a cycle, the same on each rank.
struct CycleDecision {
  CyclePath path = CyclePath::kIdle;
  std::vector<int> tensors{};  // to be reduced, in this order
  bool shut_down = false;      // this was the last cycle, without reductions
};

// One rank's side of the agreement on which tensors are reduced next. Ranks need not have them
// ready at the same time or in the same order.
//
//   every cycle        a bit per cached tensor, and flags    -> what all have, by cache position
//   if any is uncached names and sizes to rank 0, and back   -> then what all have reported by now
//
// Used by one thread. Throws errors of the exchange, and of ranks that do not fit each other; after
// an error the controller must not be used.
class Controller {
 public:
  // `sizes` are by tensor. The first cycle needs all ranks.
  Controller(Exchange exchange, int rank, int ranks, std::vector<Bytes> sizes,
             std::size_t cache_capacity);

  // `ready` lists tensors that became ready on this rank since the last cycle.
  [[nodiscard]] CycleDecision run_cycle(const std::vector<int>& ready, bool shut_down);

  // A tensor that is ready here and was not decided on yet; empty where there is no such tensor.
  [[nodiscard]] std::optional<int> undecided() const;

 private:
  [[nodiscard]] std::vector<Request> take_uncached();
  [[nodiscard]] CycleReport report(bool uncached, bool shut_down) const;
  [[nodiscard]] std::vector<int> take_common(const std::vector<bool>& hits);
  [[nodiscard]] std::vector<int> negotiate(const std::vector<Request>& requests);

  const Exchange exchange_;
  const int rank_;
  const std::vector<Bytes> sizes_;
  ResponseCache cache_;
  Negotiation negotiation_;  // rank 0's negotiation; empty on other ranks
  // Tensors that are ready here. Cached tensors are announced anew in each cycle until all ranks
  // have them; other tensors are reported once, and rank 0 remembers the report.
  std::vector<int> held_;
  std::set<int> reported_;
};

}  // namespace tandem::ddp::horovod
