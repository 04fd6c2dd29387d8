// SPDX-License-Identifier: Apache-2.0
//
// The division of a list of parameters into chunks that are sent as one. torch flattens and has two
// rules with one limit, because its broadcast (C++) and its reduction (Python) differ.
#pragma once

#include <memory>
#include <vector>

#include "common/model/parameter_layout.h"
#include "common/runtime/device.h"

namespace tandem::dp {

constexpr Bytes kTorchCoalescedChunk = mib(10);

// Neighbouring segments of a layout, and the part of an arena that the segments span.
struct Chunk {
  int first_segment = 0;
  int segments = 0;
  std::int64_t offset = 0;  // elements
  std::int64_t count = 0;   // elements, gaps between the segments included
  bool flattened = false;   // copied into a staging buffer first; else the chunk is sent as it lies
  std::int64_t staged = 0;  // elements, the chunk's place in the staging buffer

  [[nodiscard]] Span<float> of(Span<float> arena) const { return arena.subspan(offset, count); }

  [[nodiscard]] Span<float> staged_in(Span<float> staging) const {
    return staging.subspan(staged, count);
  }
};

// Memory for the flat copies of all flattened chunks alone; null where no chunk is flattened.
[[nodiscard]] std::unique_ptr<Buffer> make_staging(Device& device,
                                                   const std::vector<Chunk>& chunks);

// The chunks of broadcast_coalesced, which flattens chunks of several tensors and only views chunks
// of one: a chunk is closed by the tensor with which the chunk's size plus that tensor's size once
// more reaches the limit. Chunks stay below the limit, but for a single large tensor.
[[nodiscard]] std::vector<Chunk> broadcast_chunks(const ParameterLayout& layout, Bytes limit);

// The chunks of reduce_add_coalesced, which flattens likewise: a chunk is closed before the tensor
// that would take the chunk over the limit.
[[nodiscard]] std::vector<Chunk> reduction_chunks(const ParameterLayout& layout, Bytes limit);

// Chunks without flattening: every tensor by itself, or all tensors in one piece.
[[nodiscard]] std::vector<Chunk> tensor_chunks(const ParameterLayout& layout);
[[nodiscard]] std::vector<Chunk> flat_chunk(const ParameterLayout& layout);

}  // namespace tandem::dp
