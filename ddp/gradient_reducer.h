// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/model/model.h"
#include "common/trace/collective_timer.h"

namespace tandem::ddp {

// Averages gradients over ranks while backward makes the gradients: the part in which ddp and
// Horovod differ. Used by the rank's thread. A step is begin_step(), a backward into gradients()
// which tells of each gradient, then finish().
class GradientReducer : public GradientSink {
 public:
  // To be called at the start of each step, before forward; may be collective.
  virtual void begin_step() = 0;

  // The gradients that backward writes, by segment; may move at begin_step().
  [[nodiscard]] virtual const TensorList& gradients() const = 0;

  // The gradients as one arena, where they lie in one.
  [[nodiscard]] virtual std::optional<Span<float>> flat_gradients() const = 0;

  // To be called after backward: later work on the compute stream may read averages from
  // gradients().
  virtual void finish() = 0;

  // Bytes of gradients that go through one collective each, in launch order.
  [[nodiscard]] virtual std::vector<Bytes> bucket_sizes() const = 0;

  // The reducer's collectives over the steps since the last call, in launch order; synchronise
  // first. Empty with phases off.
  [[nodiscard]] virtual std::vector<CollectiveTimes> collect_collectives() = 0;

  // The observer that keeps account of a step's collectives; null where the collectives cannot be
  // captured.
  [[nodiscard]] virtual CaptureObserver* capture_observer() { return nullptr; }

  // Waits for the reducer's own streams; throws their error.
  virtual void synchronize() = 0;
};

}  // namespace tandem::ddp
