// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/base/units.h"
#include "common/model/model.h"
#include "common/model/parameter_layout.h"
#include "common/runtime/stream.h"
#include "common/trace/phase_timer.h"

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

// torch's communication hook: replaces a plain all-reduce in making a bucket of one rank's
// gradients the average over ranks. The reducer copies gradients into buckets undivided.
class CommunicationHook {
 public:
  CommunicationHook() = default;
  CommunicationHook(const CommunicationHook&) = delete;
  CommunicationHook& operator=(const CommunicationHook&) = delete;
  virtual ~CommunicationHook() = default;

  // Prepares for the buckets of all steps from now on: communicator memory whose gaps between
  // gradients are zeros. Collective; no work may use earlier buckets any more.
  virtual void set_buckets(const std::vector<Span<float>>& buckets) = 0;

  // Enqueues on `comm`, behind bucket `index`'s gradients, the work that makes the gradients the
  // average. Buckets come in index order, each bucket once per step.
  virtual void reduce(Stream& comm, std::size_t index) = 0;
};

}  // namespace tandem::ddp
