// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/scratch.h"

namespace tandem::host {

Scratch::Memory Scratch::of(Bytes size) {
  if (size > size_) {
    memory_ = device_.allocate(size);
    size_ = size;
  }
  return {memory_, memory_ ? memory_->bytes().subspan(0, size.value) : ByteSpan{}};
}

}  // namespace tandem::host
