// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/copy.h"

#include <array>

#include "common/runtime/stream.h"

namespace tandem {

void enqueue_copy_bytes(Stream& stream, ByteSpan destination, ConstByteSpan source) {
  TANDEM_CHECK(destination.size() == source.size(), "copy of {} bytes into {}", source.size(),
               destination.size());
  const bool touches_device =
      destination.device() == stream.device() || source.device() == stream.device();
  TANDEM_CHECK(touches_device, "copy from {} to {} on a stream of {}", to_string(source.device()),
               to_string(destination.device()), to_string(stream.device()));
  if (!destination.empty()) stream.copy_bytes(destination, source);
}

void enqueue_zero_bytes(Stream& stream, ByteSpan destination) {
  const std::array accesses{writes(destination)};
  check_placement("zero", stream.device(), accesses);
  if (!destination.empty()) stream.zero_bytes(destination);
}

}  // namespace tandem
