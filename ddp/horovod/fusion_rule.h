// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/base/dtype.h"
#include "common/base/units.h"

namespace tandem::ddp::horovod {

// A tensor that all ranks agreed to reduce now.
struct Response {
  int tensor = 0;
  Bytes size;
  DType type = DType::kFloat32;  // tensors of different types are not fused
};

// Tensors that are reduced as one, and the place of each tensor in the fusion buffer.
struct FusedGroup {
  struct Slot {
    int tensor = 0;
    Bytes offset;  // into the fusion buffer
    Bytes size;
  };

  std::vector<Slot> slots;
  DType type = DType::kFloat32;
  Bytes extent;  // bytes in the fusion buffer, with the padding
  Bytes size;    // bytes of the tensors alone
};

// The bytes that a tensor takes in the fusion buffer: a multiple of 16.
[[nodiscard]] Bytes padded(Bytes size);

// Horovod's rule: the first response takes along later responses of the same type, as long as all
// of them, padded, stay within the threshold. A response that does not fit is skipped, and later
// responses are tried as long as fused and skipped responses together stay within the threshold;
// skipped responses keep their order and come first in the next group. A threshold of 0 fuses
// nothing; a tensor beyond the threshold goes alone.
[[nodiscard]] std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold);

// The size of a buffer that any group of two or more fits in: the threshold, or all tensors where
// these are less, in whole lines of 64 floats. 0 where no tensors are ever fused.
[[nodiscard]] Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold);

}  // namespace tandem::ddp::horovod
