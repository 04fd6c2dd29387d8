// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/runtime/device.h"

namespace tandem {

enum class ReduceOp {
  kSum,      // in rank order, so that every rank gets the same bits
  kAverage,  // the sum times 1 / size
};

// A part of a root's memory, in elements.
struct Block {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

// Collectives among the ranks of a job, each with one device. Collectives are queued: every rank
// enqueues the same ones in the same order, on streams that run them in that order (one stream, or
// streams ordered by events). A lost or late peer, or an order that differs between ranks, is a
// communication error at the stream's next synchronize().
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

  // In place: every rank ends with the reduction over all ranks.
  virtual void all_reduce(Stream& stream, Span<float> values, ReduceOp op) = 0;

  // Every rank ends with root's values.
  virtual void broadcast(Stream& stream, Span<float> values, int root) = 0;

  // Root's values become the sum over all ranks, in rank order; other ranks' stay as they are.
  virtual void reduce(Stream& stream, Span<float> values, int root) = 0;

  // Every rank's `mine` becomes its block of root's `source`, which may be host memory and is empty
  // elsewhere. `blocks` is by rank, the same on all; blocks may be uneven or empty.
  virtual void scatter(Stream& stream, Span<const float> source, Span<float> mine,
                       const std::vector<Block>& blocks, int root) = 0;

  // The way back: every rank's `mine` becomes its block of root's `destination`. Blocks are apart.
  virtual void gather(Stream& stream, Span<const float> mine, Span<float> destination,
                      const std::vector<Block>& blocks, int root) = 0;

  // Blocks the calling thread (parked) until every rank is here; throws at the deadline.
  virtual void barrier() = 0;

  // Every rank's number, by rank, identical on all; blocks like barrier().
  [[nodiscard]] virtual std::vector<double> all_gather(double mine) = 0;

  // Makes all waiting and future calls of all ranks fail soon.
  virtual void abort() noexcept = 0;
};

}  // namespace tandem
