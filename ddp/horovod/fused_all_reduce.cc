// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/fused_all_reduce.h"

#include <algorithm>
#include <deque>

#include "common/base/error.h"
#include "common/runtime/copy.h"

namespace tandem::ddp::horovod {

namespace {

constexpr std::int64_t kPadding = 16;   // bytes that a vectorised copy moves at once
constexpr std::int64_t kLine = 4 * 64;  // bytes of 64 floats

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

void add(FusedGroup& group, const Response& response) {
  group.slots.push_back({response.tensor, group.extent, response.size});
  group.extent += padded(response.size);
  group.size += response.size;
}

// Takes the next group out of `waiting`.
FusedGroup take_group(std::deque<Response>& waiting, Bytes threshold) {
  FusedGroup group{.slots = {}, .type = waiting.front().type, .extent = {}, .size = {}};
  add(group, waiting.front());
  waiting.pop_front();
  std::deque<Response> skipped;
  Bytes skipped_size;
  while (!waiting.empty()) {
    const Response& next = waiting.front();
    if (next.type == group.type && group.extent + padded(next.size) <= threshold) {
      add(group, next);
    } else {
      skipped_size += padded(next.size);
      if (group.extent + skipped_size > threshold) break;
      skipped.push_back(next);
    }
    waiting.pop_front();
  }
  waiting.insert(waiting.begin(), skipped.begin(), skipped.end());
  return group;
}

std::int64_t floats_in(Bytes bytes) { return bytes.value / size_of(DType::kFloat32); }

}  // namespace

Bytes padded(Bytes size) { return Bytes{round_up(size.value, kPadding)}; }

std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold) {
  std::deque<Response> waiting(responses.begin(), responses.end());
  std::vector<FusedGroup> groups;
  while (!waiting.empty()) groups.push_back(take_group(waiting, threshold));
  return groups;
}

Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold) {
  if (all.size() < 2 || threshold == Bytes{0}) return {};
  Bytes together;
  for (const Response& response : all) together += padded(response.size);
  return Bytes{round_up(std::min(together, threshold).value, kLine)};
}

FusedAllReduce::FusedAllReduce(Device& device, Communicator& communicator,
                               const TensorList& gradients, const Options& options)
    : communicator_(communicator),
      gradients_(gradients),
      operations_(make_operations(device)),
      timer_(device, options.phases),
      stream_(device.make_stream(StreamPriority::kHigh)) {
  if (options.buffer > Bytes{0}) buffer_ = communicator.allocate(options.buffer);
  if (options.predivide_factor == 1) return;
  factor_in_ = static_cast<float>(1 / options.predivide_factor);
  factor_out_ = static_cast<float>(options.predivide_factor / communicator.size());
  op_ = ReduceOp::kSum;
}

Span<float> FusedAllReduce::gradient(const FusedGroup::Slot& slot) const {
  return gradients_.at(static_cast<std::size_t>(slot.tensor));
}

Span<float> FusedAllReduce::place(const FusedGroup::Slot& slot) const {
  return buffer_->as<float>().subspan(floats_in(slot.offset), floats_in(slot.size));
}

void FusedAllReduce::move(Span<float> from, Span<float> to, float factor) {
  if (factor != 1) {
    operations_->enqueue(*stream_, Scale{.in = from, .out = to, .factor = factor});
  } else if (from.data() != to.data()) {
    enqueue_copy(*stream_, to, from);
  }
}

void FusedAllReduce::tell_of(const FusedGroup& group, std::size_t index) {
  std::vector<int> tensors;
  for (const auto& slot : group.slots) tensors.push_back(slot.tensor);
  timer_.filled(index, tensors);
}

void FusedAllReduce::enqueue(const FusedGroup& group, const EventList& ready, std::size_t index) {
  TANDEM_CHECK(group.type == DType::kFloat32, "gradients of {} bytes are not fp32",
               group.size.value);
  // Backward on the compute stream makes the tensors of the group.
  for (const auto& slot : group.slots) {
    stream_->wait(*ready.at(static_cast<std::size_t>(slot.tensor)));
  }
  tell_of(group, index);
  timer_.begin(*stream_, index, group.size);
  const bool in_place = group.slots.size() == 1;
  const auto place_of = [&](const FusedGroup::Slot& slot) {
    return in_place ? gradient(slot) : place(slot);
  };
  for (const auto& slot : group.slots) move(gradient(slot), place_of(slot), factor_in_);
  // The padding between tensors is reduced with the tensors; no code reads the padding.
  const Span<float> values =
      in_place ? gradient(group.slots.front()) : buffer_->as<float>(floats_in(group.extent));
  communicator_.all_reduce(*stream_, values, op_);
  for (const auto& slot : group.slots) move(place_of(slot), gradient(slot), factor_out_);
  timer_.end(*stream_, index, group.size);
}

}  // namespace tandem::ddp::horovod
