// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "ddp/horovod/controller.h"

namespace tandem::ddp::horovod {

// The cycles since the last step's gradients were all launched. Cycles that were neither negotiated
// nor cached found nothing to do.
struct StepRecord {
  int cycles = 0;
  int negotiated = 0;           // cycles that went through rank 0
  int cached = 0;               // cycles that launched tensors by bits alone
  std::vector<Bytes> groups{};  // gradient bytes of each collective, in launch order
};

// Passes tensors from the rank's thread to the cycles' thread, and launches back. Waits park.
class TensorQueue {
 public:
  // Calls of the rank's thread.

  void push(int tensor);

  // Returns once the collectives of all pushed tensors are enqueued; throws the failure that ended
  // the cycles early, and returns nothing where a rank shut the cycles down.
  [[nodiscard]] std::optional<StepRecord> await_launches();

  // Makes the next cycle the last, and waits for the end.
  void shut_down() noexcept;

  [[nodiscard]] std::optional<Error> failure() const;

  // Calls of the cycles' thread.

  struct Ready {
    std::vector<int> tensors;  // pushed since the last call
    bool shut_down = false;
  };
  [[nodiscard]] Ready take();

  void note_cycle(CyclePath path, std::size_t tensors, const std::vector<Bytes>& groups);

  // Tells the rank's thread that no more cycles will come.
  void end(const std::optional<Error>& failure);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Ready ready_;
  std::size_t not_launched_ = 0;  // tensors not launched yet
  StepRecord record_;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace tandem::ddp::horovod
