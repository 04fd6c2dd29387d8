// SPDX-License-Identifier: Apache-2.0
//
// The division of a list of parameters into chunks that are sent as one. torch flattens and has two
// rules with one limit, because its broadcast (C++) and its reduction (Python) differ.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "common/model/parameter_layout.h"
#include "common/runtime/device.h"
#include "dp/reduce.h"

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
// of one: a chunk is closed by the tensor with which the chunk's size reaches the limit, so it
// overshoots by less than that tensor.
[[nodiscard]] std::vector<Chunk> broadcast_chunks(const ParameterLayout& layout, Bytes limit);

// The chunks of reduce_add_coalesced, which flattens likewise: a chunk is closed before the tensor
// that would take the chunk over the limit.
[[nodiscard]] std::vector<Chunk> reduction_chunks(const ParameterLayout& layout, Bytes limit);

// Chunks without flattening: every tensor by itself, or all tensors in one chunk.
[[nodiscard]] std::vector<Chunk> tensor_chunks(const ParameterLayout& layout);
[[nodiscard]] std::vector<Chunk> flat_chunk(const ParameterLayout& layout);

// The gradients of all replicas in the chunks in which a reduction sends gradients, as in torch's
// reduce_add_coalesced: each device flattens its own gradients. A chunk of one tensor is only
// viewed.
class FlattenedGradients {
 public:
  FlattenedGradients(const Gradients& gradients, const ParameterLayout& layout, Bytes chunk_limit);

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }

  // The part of a replica's gradients that a chunk sends; flat chunks hold values after flatten().
  [[nodiscard]] Span<float> of(std::size_t replica, const Chunk& chunk);

  // Enqueues a replica's copies on its own stream, in phase `reduce`.
  void flatten(std::size_t replica);

 private:
  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> arenas_;
  const std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Buffer>> flat_;  // per replica: the flattened chunks
};

}  // namespace tandem::dp
