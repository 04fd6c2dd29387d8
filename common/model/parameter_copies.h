// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/model/model.h"
#include "common/model/parameter_layout.h"

namespace tandem {

// Narrow copies of a model's parameters on one device, made anew by each forward, for layers that
// compute in another type than fp32. Owns their memory; used with one stream at a time.
class ParameterCopies {
 public:
  // Copies only these segments, by index, in this order; `zeros` more elements, of 0, belong to the
  // first one's copy.
  ParameterCopies(Device& device, DType type, const ParameterLayout& layout,
                  std::vector<int> segments, std::int64_t zeros = 0);

  // Copies all segments.
  ParameterCopies(Device& device, DType type, const ParameterLayout& layout);

  // Enqueues the casts.
  void cast(Executor on, const ConstTensorList& parameters);

  // A segment's copy; throws a logic error where the segment has none.
  [[nodiscard]] ConstAnySpan of(int segment) const;

 private:
  const std::vector<int> segments_;
  const std::int64_t zeros_;
  std::unique_ptr<Buffer> memory_;
  std::vector<AnySpan> copies_;  // copies by segment; empty: no copy
};

}  // namespace tandem
