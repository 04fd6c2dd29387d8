// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/model/parameter_layout.h"
#include "common/runtime/device.h"

namespace tandem {

// One tensor per parameter, in one piece of device memory.
struct Arena {
  std::unique_ptr<Buffer> buffer;
  Span<float> flat;
  TensorList tensors;  // tensors by segment
};

// Allocates an arena from a Device, or collectively from a Communicator.
template <class Allocator>
[[nodiscard]] Arena make_arena(Allocator& allocator, const ParameterLayout& layout) {
  Arena arena;
  const auto bytes = layout.arena_count() * static_cast<std::int64_t>(sizeof(float));
  arena.buffer = allocator.allocate(Bytes{bytes});
  arena.flat = arena.buffer->as<float>();
  arena.tensors = layout.views(arena.flat);
  return arena;
}

}  // namespace tandem
