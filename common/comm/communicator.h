// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/checksum.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/device.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem {

// One call of a communicator, as one rank makes it.
struct CollectiveCall {
  std::uint64_t sequence = 0;  // 1 for the first that this rank enqueued on this communicator
  const char* name = "";       // a literal: "all_reduce"
  Bytes size;                  // this rank's part
};

// Observes each collective's progress: enqueued on the caller's thread, started and finished on
// the stream's worker. A GPU's stream has no worker: there, a thread that polls every few
// milliseconds reports. A collective that fails or is dropped never finishes. The observer outlives
// the communicator. The observer's calls run within the step, so their cost is part of the step.
class CollectiveObserver : boost::noncopyable {
 public:
  virtual ~CollectiveObserver() = default;

  virtual void enqueued(const CollectiveCall& call) noexcept = 0;
  virtual void started(const CollectiveCall& call) noexcept = 0;
  virtual void finished(const CollectiveCall& call) noexcept = 0;
};

enum class ReduceOp {
  kSum,
  kAverage,  // the sum times 1 / size
};

// The factor of the sum: 1, or 1 / ranks for an average.
[[nodiscard]] constexpr float factor_of(ReduceOp op, int ranks) {
  return op == ReduceOp::kAverage ? 1.0F / static_cast<float>(ranks) : 1.0F;
}

// A part of a root's memory, in elements.
struct Block {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

// A collective, as one rank asks for it.
struct CollectiveRequest {
  enum class Kind {
    kAllReduce,
    kBroadcast,
    kReduce,
    kScatter,
    kGather,
  };

  Kind kind = Kind::kAllReduce;
  ConstAnySpan from{};           // what this rank brings; empty where it brings nothing
  AnySpan to{};                  // where this rank's result comes; empty where it gets none
  ReduceOp op = ReduceOp::kSum;  // an all-reduce alone uses the operation
  int root = 0;
  std::span<const Block> blocks{};  // each rank's block in a scatter or gather; valid in the call

  [[nodiscard]] const char* name() const;  // "all_reduce"
  [[nodiscard]] Bytes size() const;        // the size that CollectiveCall::size defines
  // The memory that rank `rank` reads and writes. The root's side of a scatter or gather may be
  // host memory, away from the stream's device.
  [[nodiscard]] std::vector<Access> accesses(int rank) const;
};

// Whether ranks compare their enqueued collectives before they move data.
enum class OrderCheck {
  kWhereFree,  // shared_memory alone compares, since its ranks meet anyway
  kAlways,     // every transport compares; costs a message per collective
};

struct CommunicatorOptions {
  Nanoseconds deadline = std::chrono::seconds(60);  // longest wait for a peer
  CollectiveObserver* observer = nullptr;  // sees all collectives; outlives the communicator
  OrderCheck check_order = OrderCheck::kWhereFree;
  // The last words of a process whose transport cannot be interrupted and so ends the process.
  RankExit rank_exit{};
};

// Collectives among the ranks of a job, each with one device. Collectives are queued: every rank
// enqueues the same collectives in the same order, on streams that run them in that order (one
// stream, or streams ordered by events). A lost or late peer, or an order that differs between
// ranks, is a communication error at the stream's next synchronize(); where the transport cannot be
// interrupted, the process ends with a line that names the error.
//
// Elements are of any stored type, the same on all ranks. Every rank ends with the same bits. A sum
// of 16-bit numbers is rounded at least once; each transport says how often.
class Communicator : public RankExchange {
 public:
  // Allocates memory of this rank's device that suits the transport; shared memory needs no copy
  // there. Collective: all ranks ask for the same size. Throws out-of-memory on all ranks where any
  // rank has too little memory.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(Bytes size) = 0;

  // Every rank's `result` becomes the reduction of all ranks' `mine`. `mine` and `result` have the
  // same size and type, and are one place or apart.
  void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op);

  // The reduction in place.
  void all_reduce(Stream& stream, AnySpan values, ReduceOp op) {
    all_reduce(stream, values, values, op);
  }

  // Every rank's `values` become the root's values.
  void broadcast(Stream& stream, AnySpan values, int root);

  // The root's `result` becomes the sum of all ranks' `mine`, of the same size and type, in one
  // place or apart. On other ranks `result` is empty where the root's lies apart; where the root
  // reduces in place, the other ranks pass `mine` as `result`, and `mine` keeps its values.
  void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root);

  // The reduction in place.
  void reduce(Stream& stream, AnySpan values, int root) { reduce(stream, values, values, root); }

  // Every rank's `mine` becomes that rank's block of the root's `source`, which may be host memory
  // and is empty on other ranks. `blocks` has one block per rank and is the same on all ranks;
  // blocks may be uneven or empty.
  void scatter(Stream& stream, ConstAnySpan source, AnySpan mine, const std::vector<Block>& blocks,
               int root);

  // The inverse of scatter: each rank's block of the root's `destination` becomes that rank's
  // `mine`. Blocks do not overlap.
  void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
              const std::vector<Block>& blocks, int root);

  // Blocks the calling thread (parked) until every rank has called barrier(); throws at the
  // deadline.
  virtual void barrier() = 0;

  // Every rank's number, by rank, identical on all ranks; blocks like barrier(), as the exchange of
  // texts does.
  [[nodiscard]] std::vector<double> all_gather(double mine);
  using RankExchange::all_gather;

  // Enqueues a request that the functions above have checked.
  virtual void enqueue(Stream& stream, const CollectiveRequest& request) = 0;

  // Makes all waiting and future calls of all ranks fail soon.
  virtual void abort() noexcept = 0;
};

// A hash of everything that the ranks must have enqueued alike.
class Note {
 public:
  void add(std::int64_t part) { hash_.add(static_cast<std::uint64_t>(part)); }

  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(hash_.value()); }

 private:
  Fnv1a hash_;
};

// The note of a collective: kind, operation, root, and the blocks or else the type and number of
// elements.
[[nodiscard]] Note note_of(const CollectiveRequest& collective);

}  // namespace tandem
