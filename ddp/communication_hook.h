// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/base/units.h"
#include "common/model/parameter_layout.h"
#include "common/runtime/stream.h"

namespace tandem::ddp {

// A bucket as a hook sees it.
struct HookBucket {
  struct Gradient {
    Shape shape;
    Span<float> values;  // part of `flat`
  };

  Span<float> flat;  // of memory of the communicator's; gaps between the gradients are zeros
  std::vector<Gradient> gradients{};
};

// torch's communication hook: what makes a bucket of one rank's gradients the average over ranks,
// instead of a plain all-reduce. The reducer copies gradients in as they are, undivided.
class CommunicationHook {
 public:
  CommunicationHook() = default;
  CommunicationHook(const CommunicationHook&) = delete;
  CommunicationHook& operator=(const CommunicationHook&) = delete;
  virtual ~CommunicationHook() = default;

  // The buckets of all steps from now on: makes what each needs. Collective; nothing of earlier
  // buckets is in use any more.
  virtual void set_buckets(const std::vector<HookBucket>& buckets) = 0;

  // Enqueues on `comm`, behind bucket `index`'s gradients, what makes them the average. Buckets
  // come in index order, each once per step.
  virtual void reduce(Stream& comm, std::size_t index) = 0;

  // Bytes that one step sends through collectives, per rank.
  [[nodiscard]] virtual Bytes bytes_per_step() const = 0;
};

}  // namespace tandem::ddp
