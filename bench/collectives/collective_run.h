// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/driver/device_values.h"
#include "common/runtime/event_pair.h"
#include "common/runtime/host/stream_gate.h"
#include "common/runtime/stream.h"

namespace tandem::bench {

// Memory that a case takes on each rank's device, the memcpy's included.
[[nodiscard]] Bytes memory_of(const CollectiveCase& measured, int ranks);

// One rank's part in a case: the rank's memory and stream, the call, and the check of the result.
class CollectiveRun {
 public:
  // Collective. All arguments outlive the run. Throws out-of-memory on all ranks where any rank has
  // too little memory for the communicator's buffers.
  CollectiveRun(Communicator& communicator, Device& device, Platform& platform,
                const CollectiveCase& measured);

  // Writes the pattern into inputs, and a value that no result has into results. Blocks.
  void load();

  // Writes zeros into inputs, which a sum in place leaves unchanged however often the sum runs.
  void load_zeros();

  // call() enqueues one call; enqueue() enqueues all calls of a sample.
  void call();
  void enqueue();

  // Enqueues copies of as many bytes within this rank's memory, as many as a sample has calls.
  void enqueue_memcpy();

  // Enqueues `work` between two timed events.
  template <class Work>
  void enqueue_timed(const Work& work) {
    timed_.around(*stream_, work);
  }
  // The time between these events; synchronise first.
  [[nodiscard]] Nanoseconds timed() const { return timed_.time(); }

  // Where a sample has several calls on a host device, holds up the work enqueued from now on until
  // release(). Returns false elsewhere, where no work is held up.
  [[nodiscard]] bool hold();
  void release() { gate_.reset(); }

  // Blocks until all work is done; throws the stream's error.
  void synchronize() { stream_->synchronize(); }

  // Checks every element that the collective had to leave on this rank, after load() and calls that
  // make one result. Blocks.
  [[nodiscard]] WrongElements check();

 private:
  // A part of the larger buffer.
  struct Region {
    AnySpan span{};          // empty where the rank has no part
    std::int64_t first = 0;  // index of its first element
  };

  [[nodiscard]] AnySpan whole(Buffer& buffer, std::int64_t count) const;
  void assign_regions();
  void send_around();

  Communicator& communicator_;
  const CollectiveCase measured_;
  const int rank_;
  const int ranks_;
  const std::int64_t block_;  // elements per rank, in collectives with blocks
  const Pattern pattern_;
  std::vector<Block> blocks_;
  std::unique_ptr<Buffer> whole_;  // the larger buffer
  std::unique_ptr<Buffer> other_;  // the second buffer, where input and result are apart
  std::unique_ptr<Buffer> copy_;   // the memcpy's target; absent in a world of one
  Region input_;
  Region result_;
  std::unique_ptr<Stream> stream_;
  EventPair timed_;
  std::optional<host::StreamGate>
      gate_;  // destroyed before the stream, which waits for queued work
  DeviceValues values_;
};

}  // namespace tandem::bench
