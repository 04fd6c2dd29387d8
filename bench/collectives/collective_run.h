// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/device_values.h"
#include "bench/pattern.h"
#include "bench/stream_gate.h"

namespace tandem::bench {

// Memory that a case takes on each rank's device, the memcpy's included.
[[nodiscard]] Bytes memory_of(const CollectiveCase& measured, int ranks);

// One rank's part in a case: its memory, its stream, the call, and the check of what it left.
class CollectiveRun {
 public:
  // Collective. All outlive this. Throws out-of-memory on all ranks where any has too little for
  // what the communicator allocates.
  CollectiveRun(Communicator& communicator, Device& device, Platform& platform,
                const CollectiveCase& measured);

  // Inputs with the pattern, results with what no result is. Blocks.
  void load();

  // Zeros for inputs: what a sum in place leaves as it is, however often it runs.
  void load_zeros();

  // Enqueues one call; all calls of a sample.
  void call();
  void enqueue();

  // A copy of as many bytes within this rank's memory, as often.
  void enqueue_memcpy();

  // Where a sample has several calls on a host device: what is enqueued from now on waits until
  // release(). False elsewhere, where nothing is held up.
  [[nodiscard]] bool hold();
  void release() { gate_.reset(); }

  // Blocks until all is done; throws the stream's error.
  void synchronize() { stream_->synchronize(); }

  // Looks at every element that the collective had to leave on this rank, after load() and calls
  // that make one result. Blocks.
  [[nodiscard]] Findings check();

 private:
  // A part of the larger buffer.
  struct Region {
    AnySpan span{};          // empty where the rank has none
    std::int64_t first = 0;  // index of its first element
  };

  [[nodiscard]] AnySpan whole(Buffer& buffer, std::int64_t count) const;
  void assign_regions();
  void send_around();

  Communicator& communicator_;
  const CollectiveCase measured_;
  const int rank_;
  const int ranks_;
  const std::int64_t block_;  // elements per rank, where there are blocks
  const Pattern pattern_;
  std::vector<Block> blocks_;
  std::unique_ptr<Buffer> whole_;  // the larger buffer
  std::unique_ptr<Buffer> other_;  // the second one, where input and result are apart
  std::unique_ptr<Buffer> copy_;   // of the memcpy; absent in a world of one
  Region input_;
  Region result_;
  std::unique_ptr<Stream> stream_;
  std::optional<StreamGate> gate_;  // before the stream goes, which waits for what is queued
  DeviceValues values_;
};

}  // namespace tandem::bench
