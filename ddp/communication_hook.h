// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/base/units.h"
#include "common/model/parameter_layout.h"
#include "common/runtime/stream.h"

namespace tandem::ddp {

// A bucket as a hook reads and writes the bucket.
struct HookBucket {
  struct Gradient {
    Shape shape;
    Span<float> values;  // the gradient's part of `flat`
  };

  Span<float> flat;  // communicator memory; gaps between gradients are zeros
  std::vector<Gradient> gradients{};
};

// torch's communication hook: replaces a plain all-reduce in making a bucket of one rank's
// gradients the average over ranks. The reducer copies gradients into buckets undivided.
class CommunicationHook {
 public:
  CommunicationHook() = default;
  CommunicationHook(const CommunicationHook&) = delete;
  CommunicationHook& operator=(const CommunicationHook&) = delete;
  virtual ~CommunicationHook() = default;

  // Prepares for the buckets of all steps from now on. Collective; no work may use earlier buckets
  // any more.
  virtual void set_buckets(const std::vector<HookBucket>& buckets) = 0;

  // Enqueues on `comm`, behind bucket `index`'s gradients, the work that makes the gradients the
  // average. Buckets come in index order, each bucket once per step.
  virtual void reduce(Stream& comm, std::size_t index) = 0;

  // Bytes that one step sends through collectives, per rank.
  [[nodiscard]] virtual Bytes bytes_per_step() const = 0;
};

}  // namespace tandem::ddp
