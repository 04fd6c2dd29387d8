// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/collective_observer.h"
#include "common/comm/farewell.h"
#include "common/runtime/any_span.h"
#include "common/runtime/device.h"
#include "common/runtime/stream_graph.h"

namespace tandem {

enum class ReduceOp {
  kSum,
  kAverage,  // the sum times 1 / size
};

// A part of a root's memory, in elements.
struct Block {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

// Whether ranks compare what they enqueued before they move data.
enum class OrderCheck {
  kWhereFree,  // shared_memory always does: its ranks meet anyway
  kAlways,     // the others too, which costs a message for each collective
};

struct CommunicatorOptions {
  Nanoseconds deadline = std::chrono::seconds(60);  // for a peer to come
  CollectiveObserver* observer = nullptr;           // of all its collectives; outlives it
  OrderCheck check_order = OrderCheck::kWhereFree;
  // Where this communicator carries out parts of another's collectives: the one of those that is
  // being enqueued, by which messages name the part. Outlives it; absent where it is no part.
  const CollectiveCall* part_of = nullptr;
  // Of a transport that ends the process because it cannot be interrupted.
  Farewell farewell{};
};

// Collectives among the ranks of a job, each with one device. Collectives are queued: every rank
// enqueues the same ones in the same order, on streams that run them in that order (one stream, or
// streams ordered by events). A lost or late peer, or an order that differs between ranks, is a
// communication error at the stream's next synchronize(), or ends the process with a line that says
// so where the transport cannot be interrupted.
//
// Elements are of any stored type, the same on all ranks. Every rank ends with the same bits; sums
// of 16-bit numbers are rounded at least once, as the transport says.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Memory of this rank's device that collectives use without a copy. Collective: all ranks ask
  // for the same size. Throws out-of-memory on all ranks where any has too little.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(Bytes size) = 0;

  // Every rank's `result` becomes the reduction of all ranks' `mine`; both have the same size and
  // type, and are one place or apart.
  virtual void all_reduce(Stream& stream, ConstAnySpan mine, AnySpan result, ReduceOp op) = 0;

  // In place.
  void all_reduce(Stream& stream, AnySpan values, ReduceOp op) {
    all_reduce(stream, values, values, op);
  }

  // Every rank ends with root's values.
  virtual void broadcast(Stream& stream, AnySpan values, int root) = 0;

  // Root's `result` becomes the sum over all ranks' `mine`, of the same size and type, in one place
  // or apart. Others have no result: where root's lies apart theirs is empty, and where it is in
  // place they give `mine` again, which stays as it is.
  virtual void reduce(Stream& stream, ConstAnySpan mine, AnySpan result, int root) = 0;

  // In place.
  void reduce(Stream& stream, AnySpan values, int root) { reduce(stream, values, values, root); }

  // Every rank's `all`, which is size() times as large, becomes all ranks' `mine` by rank. In place
  // where `mine` is the rank's part of `all`.
  virtual void all_gather(Stream& stream, ConstAnySpan mine, AnySpan all) = 0;

  // Every rank's `mine` becomes the reduction of its part of all ranks' `all`, which is size()
  // times as large and stays as it is. In place where `mine` is the rank's part of `all`.
  virtual void reduce_scatter(Stream& stream, ConstAnySpan all, AnySpan mine, ReduceOp op) = 0;

  // Every rank's `mine` becomes its block of root's `source`, which may be host memory and is empty
  // elsewhere. `blocks` is by rank, the same on all; blocks may be uneven or empty.
  virtual void scatter(Stream& stream, ConstAnySpan source, AnySpan mine,
                       const std::vector<Block>& blocks, int root) = 0;

  // The way back: every rank's `mine` becomes its block of root's `destination`. Blocks are apart.
  virtual void gather(Stream& stream, ConstAnySpan mine, AnySpan destination,
                      const std::vector<Block>& blocks, int root) = 0;

  // From this rank to another, which receives as many of the same type. Between two ranks messages
  // arrive in the order in which they are sent.
  virtual void send(Stream& stream, ConstAnySpan values, int to) = 0;
  virtual void recv(Stream& stream, AnySpan values, int from) = 0;

  // Blocks the calling thread (parked) until every rank is here; throws at the deadline.
  virtual void barrier() = 0;

  // Every rank's number, by rank, identical on all; blocks like barrier().
  [[nodiscard]] virtual std::vector<double> all_gather(double mine) = 0;

  // The same with texts of any length, for control.
  [[nodiscard]] virtual std::vector<std::string> all_gather(const std::string& mine) = 0;

  // Who keeps account of collectives that are captured (Stream::capture) and replayed; null where
  // they cannot be, since the host takes part in them. Every rank captures and replays the same.
  [[nodiscard]] virtual CaptureObserver* capture_observer() { return nullptr; }

  // Makes all waiting and future calls of all ranks fail soon.
  virtual void abort() noexcept = 0;
};

}  // namespace tandem
