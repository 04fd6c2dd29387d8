// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/model/model.h"

namespace tandem {

// Narrow copies of a model's parameters on one device, which each forward makes anew: what layers
// multiply by that compute in another type than fp32. Owns their memory; used with one stream at a
// time.
class ParameterCopies {
 public:
  // Of these segments alone, by index, in that order.
  ParameterCopies(Device& device, DType type, const ParameterLayout& layout,
                  std::vector<int> segments);

  // Of all.
  ParameterCopies(Device& device, DType type, const ParameterLayout& layout);

  // Enqueues the casts.
  void cast(Executor on, const ConstTensorList& parameters);

  // A segment's copy; a logic error where none is made.
  [[nodiscard]] ConstAnySpan of(int segment) const;

 private:
  const std::vector<int> segments_;
  std::unique_ptr<Buffer> memory_;
  std::vector<AnySpan> copies_;  // by segment; empty: none
};

}  // namespace tandem
