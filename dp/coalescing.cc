// SPDX-License-Identifier: Apache-2.0
#include "dp/coalescing.h"

namespace tandem::dp {

namespace {

enum class Flattening { kNone, kSeveral };  // flattening of chunks of several tensors

// Collects segments into chunks; the rules say when to close.
class ChunkBuilder {
 public:
  ChunkBuilder(const ParameterLayout& layout, Flattening flattening)
      : layout_(layout), flattening_(flattening) {}

  [[nodiscard]] Bytes open_bytes() const { return open_bytes_; }

  void add(int segment) {
    if (open_.segments == 0) open_.first_segment = segment;
    ++open_.segments;
    open_bytes_ += at(segment).size_bytes();
  }

  void close() {
    if (open_.segments == 0) return;
    const auto& first = at(open_.first_segment);
    const auto& last = at(open_.first_segment + open_.segments - 1);
    open_.offset = first.offset;
    open_.count = last.offset + last.count - first.offset;
    open_.flattened = flattening_ == Flattening::kSeveral && open_.segments > 1;
    open_.staged = staged_;
    if (open_.flattened) staged_ += aligned_count(open_.count);
    chunks_.push_back(open_);
    open_ = {};
    open_bytes_ = {};
  }

  [[nodiscard]] std::vector<Chunk> take() {
    close();
    return std::move(chunks_);
  }

 private:
  [[nodiscard]] const ParameterLayout::Segment& at(int segment) const {
    return layout_.segments()[static_cast<std::size_t>(segment)];
  }

  const ParameterLayout& layout_;
  const Flattening flattening_;
  Chunk open_;
  Bytes open_bytes_;
  std::int64_t staged_ = 0;  // elements of all staged chunks so far
  std::vector<Chunk> chunks_;
};

}  // namespace

std::unique_ptr<Buffer> make_staging(Device& device, const std::vector<Chunk>& chunks) {
  std::int64_t count = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.flattened) count = chunk.staged + chunk.count;
  }
  if (count == 0) return nullptr;
  return device.allocate(bytes_of<float>(count));
}

std::vector<Chunk> broadcast_chunks(const ParameterLayout& layout, Bytes limit) {
  ChunkBuilder builder(layout, Flattening::kSeveral);
  for (int segment = 0; segment < layout.size(); ++segment) {
    builder.add(segment);
    if (builder.open_bytes() >= limit) builder.close();
  }
  return builder.take();
}

std::vector<Chunk> reduction_chunks(const ParameterLayout& layout, Bytes limit) {
  ChunkBuilder builder(layout, Flattening::kSeveral);
  for (int segment = 0; segment < layout.size(); ++segment) {
    const Bytes size = layout.segments()[static_cast<std::size_t>(segment)].size_bytes();
    if (builder.open_bytes() + size > limit) builder.close();
    builder.add(segment);
  }
  return builder.take();
}

std::vector<Chunk> tensor_chunks(const ParameterLayout& layout) {
  ChunkBuilder builder(layout, Flattening::kNone);
  for (int segment = 0; segment < layout.size(); ++segment) {
    builder.add(segment);
    builder.close();
  }
  return builder.take();
}

std::vector<Chunk> flat_chunk(const ParameterLayout& layout) {
  ChunkBuilder builder(layout, Flattening::kNone);
  for (int segment = 0; segment < layout.size(); ++segment) builder.add(segment);
  return builder.take();
}

FlattenedGradients::FlattenedGradients(const Gradients& gradients, const ParameterLayout& layout,
                                       Bytes chunk_limit)
    : replicas_(gradients.replicas),
      arenas_(gradients.arenas),
      chunks_(reduction_chunks(layout, chunk_limit)) {
  for (Replica* const replica : replicas_) {
    flat_.push_back(make_staging(replica->device(), chunks_));
  }
}

Span<float> FlattenedGradients::of(std::size_t replica, const Chunk& chunk) {
  return chunk.flattened ? chunk.staged_in(flat_[replica]->as<float>())
                         : chunk.of(arenas_[replica]);
}

void FlattenedGradients::flatten(std::size_t replica) {
  Replica& on = *replicas_[replica];
  on.timer().begin(on.stream(), Phase::kReduce);
  for (const Chunk& chunk : chunks_) {
    if (!chunk.flattened) continue;
    on.timer().copy(on.stream(), of(replica, chunk), chunk.of(arenas_[replica]));
  }
}

}  // namespace tandem::dp
