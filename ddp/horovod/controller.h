// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/units.h"

namespace tandem::ddp::horovod {

// A rank's message that a tensor of its own is ready; sent as the struct lies in memory.
struct Request {
  std::int64_t tensor = 0;
  std::int64_t bytes = 0;  // size, on which ranks must agree

  bool operator==(const Request&) const = default;
};
static_assert(std::has_unique_object_representations_v<Request>);  // sent as its bytes

// The coordinator's book: which ranks have reported which tensors. Ranks report in any order;
// tensors have one order of completion, which is sent to all ranks.
class Negotiation {
 public:
  explicit Negotiation(int ranks) : ranks_(ranks) {}

  // Enters a rank's report of a tensor, once until the tensor is taken. Throws a communication
  // error where ranks differ in the tensor's size.
  void report(int rank, const Request& request);

  // Tensors that all ranks have reported by now, in the order of the last rank's reports.
  [[nodiscard]] std::vector<Request> take_complete();

 private:
  struct Entry {
    std::int64_t bytes = 0;
    int first_rank = 0;
    std::vector<bool> reported;  // by rank
    int missing = 0;
  };

  const int ranks_;
  std::map<std::int64_t, Entry> waiting_;  // by tensor
  std::vector<Request> complete_;
};

// The messages that ranks exchange in a cycle, as texts for a communicator's all_gather. Numbers
// are sent as they lie in memory, since all ranks of a job run the same program on the same kind of
// machine.
//
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
[[nodiscard]] std::vector<Request> decode(const std::string& text);

// The tensors that were agreed on lately. Ranks use the same tensors in the same order, so all
// ranks' caches are equal, and a position in the cache names a tensor in one bit. Positions go from
// the least recently used tensor to the latest. A full cache forgets the least recently used
// tensor.
class ResponseCache {
 public:
  // A capacity of 0 caches nothing.
  explicit ResponseCache(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] std::size_t size() const { return tensors_.size(); }
  [[nodiscard]] int tensor_at(std::size_t position) const { return tensors_.at(position); }
  [[nodiscard]] std::optional<std::size_t> position_of(int tensor) const;

  // Makes `tensors`, each named once, the latest, in this order. Positions change.
  void use(const std::vector<int>& tensors);

 private:
  void set_position(int tensor, std::optional<std::size_t> position);

  const std::size_t capacity_;
  std::vector<int> tensors_;                           // by position
  std::vector<std::optional<std::size_t>> positions_;  // by tensor
};

// Gathers every rank's text, by rank; `mine` is this rank's. All ranks call the exchange, which
// blocks until every rank has called.
using GatherTexts = std::function<std::vector<std::string>(const std::string& mine)>;

// The work of all ranks in a cycle, the same on each rank.
struct CycleDecision {
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
  Controller(GatherTexts exchange, int rank, int ranks, std::vector<Bytes> sizes,
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

  const GatherTexts exchange_;
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
