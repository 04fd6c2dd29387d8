// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/platform.h"

namespace tandem {

// The samples of the global batch and their widths.
struct BatchShape {
  std::int64_t first = 0;  // global index of the first sample
  std::int64_t count = 0;
  std::int64_t input_width = 0;
  std::int64_t target_width = 0;
  // Elements are whole numbers below this, such as ids of tokens; 0: continuous values.
  std::int64_t input_classes = 0;
  std::int64_t target_classes = 0;
  // The number of input elements that are data, by global sample; the rest is padding of zeros.
  // Empty: all elements are data.
  std::vector<std::int64_t> input_lengths{};
};

enum class HostMemory { kPinned, kPageable };

// Inputs and targets in host memory. Sample i depends on (seed, i) alone, so each sample is the
// same however a batch is cut over ranks and replicas. Continuous values are of unit scale and not
// all zeros, since the values affect the speed of computing. Classes are equally frequent whole
// numbers in every distribution.
class SyntheticBatch {
 public:
  SyntheticBatch(Platform& platform, const BatchShape& shape, std::uint64_t seed,
                 Distribution distribution, HostMemory memory = HostMemory::kPinned);

  [[nodiscard]] std::int64_t count() const { return shape_.count; }
  [[nodiscard]] Span<const float> inputs() const;   // (count, input_width)
  [[nodiscard]] Span<const float> targets() const;  // (count, target_width)

 private:
  // A tensor in pinned or in pageable memory.
  struct Tensor {
    std::unique_ptr<Buffer> pinned{};
    std::vector<float> pageable{};
    Span<float> values{};
  };

  static Tensor make_tensor(Platform& platform, std::int64_t elements, HostMemory memory);

  const BatchShape shape_;
  const Tensor inputs_;
  const Tensor targets_;
};

}  // namespace tandem
