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

// Tensors that are reduced as one, and where each lies in the fusion buffer.
struct FusedGroup {
  struct Slot {
    int tensor = 0;
    Bytes offset;  // into the fusion buffer
    Bytes size;
  };

  std::vector<Slot> slots;
  DType type = DType::kFloat32;
  Bytes extent;  // in the fusion buffer, with the padding
  Bytes size;    // of the tensors alone
};

// What a tensor takes up in the fusion buffer: a multiple of 16 bytes.
[[nodiscard]] Bytes padded(Bytes size);

// Horovod's rule: the first response takes with it those after it that have its type, as long as
// all, padded, stay within the threshold. One that does not fit is skipped, and those behind it are
// looked at, as long as what is fused and what was skipped stay within the threshold together; the
// skipped ones keep their order and come first in the next group. A threshold of 0 fuses nothing; a
// tensor beyond it goes alone.
[[nodiscard]] std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold);

// Of the buffer that any group of two or more fits in: the threshold, or all tensors where those
// are less, in whole lines of 64 floats. 0 where nothing is ever fused.
[[nodiscard]] Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold);

}  // namespace tandem::ddp::horovod
