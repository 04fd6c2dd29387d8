// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/fused_all_reduce.h"

#include <algorithm>

#include "common/base/rounding.h"
#include "common/runtime/copy.h"

namespace tandem::ddp::horovod {

namespace {

constexpr std::int64_t kPadding = 16;  // bytes that a vectorised copy moves at once
constexpr std::int64_t kLine = 256;    // bytes of 64 floats

std::int64_t floats_in(Bytes bytes) {
  return bytes.value / static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

Bytes padded(Bytes size) { return Bytes{round_up(size.value, kPadding)}; }

std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold) {
  std::vector<FusedGroup> groups;
  for (const Response& response : responses) {
    const Bytes extent = padded(response.size);
    if (groups.empty() || groups.back().extent + extent > threshold) groups.emplace_back();
    FusedGroup& group = groups.back();
    group.slots.push_back({response.tensor, group.extent, response.size});
    group.extent += extent;
    group.size += response.size;
  }
  return groups;
}

Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold) {
  if (all.size() < 2 || threshold == Bytes{0}) return {};
  Bytes together;
  for (const Response& response : all) together += padded(response.size);
  return Bytes{round_up(std::min(together, threshold).value, kLine)};
}

FusedAllReduce::FusedAllReduce(Device& device, Communicator& communicator,
                               const TensorList& gradients, Bytes buffer,
                               const PhaseOptions& phases)
    : communicator_(communicator),
      gradients_(gradients),
      timer_(device, phases),
      buffer_(buffer > Bytes{0} ? communicator.allocate(buffer) : nullptr),
      stream_(device.make_stream(StreamPriority::kHigh)) {}

Span<float> FusedAllReduce::gradient(const FusedGroup::Slot& slot) const {
  return gradients_.at(static_cast<std::size_t>(slot.tensor));
}

Span<float> FusedAllReduce::place(const FusedGroup::Slot& slot) const {
  return buffer_->as<float>().subspan(floats_in(slot.offset), floats_in(slot.size));
}

void FusedAllReduce::tell_of(const FusedGroup& group, std::size_t index) {
  std::vector<int> tensors;
  for (const auto& slot : group.slots) tensors.push_back(slot.tensor);
  timer_.filled(index, tensors);
}

void FusedAllReduce::enqueue(const FusedGroup& group, const EventList& ready, std::size_t index) {
  // Backward on the compute stream makes the tensors of the group.
  for (const auto& slot : group.slots) {
    stream_->wait(*ready.at(static_cast<std::size_t>(slot.tensor)));
  }
  tell_of(group, index);
  timer_.begin(*stream_, index, group.size);
  const bool in_place = group.slots.size() == 1;
  if (!in_place) {
    for (const auto& slot : group.slots) enqueue_copy(*stream_, place(slot), gradient(slot));
  }
  // The padding between tensors is reduced with the tensors; no code reads the padding.
  const Span<float> values =
      in_place ? gradient(group.slots.front()) : buffer_->as<float>(floats_in(group.extent));
  communicator_.all_reduce(*stream_, values, ReduceOp::kAverage);
  if (!in_place) {
    for (const auto& slot : group.slots) enqueue_copy(*stream_, gradient(slot), place(slot));
  }
  timer_.end(*stream_, index, group.size);
}

}  // namespace tandem::ddp::horovod
