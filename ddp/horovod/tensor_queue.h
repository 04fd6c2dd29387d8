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

// What cycles did since the last step's gradients were all launched. Cycles that were neither
// negotiated nor cached found nothing to do.
struct StepRecord {
  int cycles = 0;
  int negotiated = 0;           // through rank 0
  int cached = 0;               // launched something by bits alone
  std::vector<Bytes> groups{};  // gradients of each collective, in launch order
};

// What the rank's thread and the cycles' thread hand each other: tensors one way, their launches
// the other. Waits park.
class TensorQueue {
 public:
  // The rank's thread.

  void push(int tensor);

  // Returns once the collectives of all that was pushed are enqueued; throws the failure that ended
  // the cycles before, and returns nothing where a rank shut them down.
  [[nodiscard]] std::optional<StepRecord> await_launches();

  // Makes the next cycle the last, and waits for the end.
  void shut_down() noexcept;

  [[nodiscard]] std::optional<Error> failure() const;

  // The cycles' thread.

  struct Ready {
    std::vector<int> tensors;  // pushed since the last call
    bool shut_down = false;
  };
  [[nodiscard]] Ready take();

  void note_cycle(CyclePath path, std::size_t tensors, const std::vector<Bytes>& groups);

  // No more cycles will come.
  void end(const std::optional<Error>& failure);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Ready ready_;
  std::size_t not_launched_ = 0;  // tensors
  StepRecord record_;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace tandem::ddp::horovod
