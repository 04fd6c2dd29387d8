// SPDX-License-Identifier: Apache-2.0
#include "ddp/horovod/horovod_reducer.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/base/rounding.h"
#include "common/runtime/copy.h"

namespace tandem::ddp::horovod {

void TensorQueue::push(int tensor) {
  const std::lock_guard lock(mutex_);
  ready_.tensors.push_back(tensor);
  ++not_launched_;
}

std::optional<std::vector<Bytes>> TensorQueue::await_launches() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return not_launched_ == 0 || ended_; });
  if (not_launched_ == 0) return std::exchange(groups_, {});
  if (failure_) throw Error(*failure_);
  return std::nullopt;
}

void TensorQueue::shut_down() noexcept {
  std::unique_lock lock(mutex_);
  ready_.shut_down = true;
  changed_.wait(lock, [this] { return ended_; });
}

std::optional<Error> TensorQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

TensorQueue::Ready TensorQueue::take() {
  const std::lock_guard lock(mutex_);
  return {std::exchange(ready_.tensors, {}), ready_.shut_down};
}

void TensorQueue::note_launches(std::size_t tensors, const std::vector<Bytes>& groups) {
  const std::lock_guard lock(mutex_);
  groups_.insert(groups_.end(), groups.begin(), groups.end());
  not_launched_ -= tensors;
  if (tensors > 0 && not_launched_ == 0) changed_.notify_all();
}

void TensorQueue::end(const std::optional<Error>& failure) {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (failure) failure_.emplace(*failure);
  changed_.notify_all();
}

namespace {

std::vector<Bytes> sizes_of(const ParameterLayout& layout) {
  std::vector<Bytes> sizes;
  for (const auto& segment : layout.segments()) sizes.push_back(segment.size_bytes());
  return sizes;
}

Bytes buffer_size(const ParameterLayout& layout, Bytes threshold) {
  std::vector<Response> all;
  for (const Bytes size : sizes_of(layout)) all.push_back({.size = size});
  return fusion_buffer_size(all, threshold);
}

EventList make_events(Device& device, int count) {
  EventList events;
  for (int i = 0; i < count; ++i) events.push_back(device.make_event());
  return events;
}

}  // namespace

HorovodReducer::HorovodReducer(Replica& replica, const ParameterLayout& layout, Communicator& data,
                               Communicator& control, const HorovodOptions& options)
    : replica_(replica),
      layout_(layout),
      data_(data),
      control_(control),
      options_(options),
      gradients_(make_arena(data, layout)),
      ready_(make_events(replica.device(), layout.size())),
      given_(layout.segments().size()),
      reduced_(replica.device().make_event()),
      controller_([&control](const std::string& mine) { return control.all_gather(mine); },
                  control.rank(), control.size(), sizes_of(layout), options.cache_capacity),
      fused_(replica.device(), data, gradients_.tensors,
             buffer_size(layout, options.fusion_threshold), replica.timer().options()) {
  TANDEM_CHECK(control.size() == data.size() && control.rank() == data.rank(),
               "rank {} of {} for control, {} of {} for data", control.rank(), control.size(),
               data.rank(), data.size());
  timer_ = std::make_unique<Timer>(replica.device(), options.cycle,
                                   [this](TimePoint start) { return cycle(start); });
}

// The other ranks wait for this rank in every cycle, so this rank tells them before leaving.
// Enqueued work may then still read or write gradients.
HorovodReducer::~HorovodReducer() {
  queue_.shut_down();
  timer_.reset();
  static_cast<void>(capture_error([this] { replica_.stream().synchronize(); }));
}

void HorovodReducer::begin_step() { given_.assign(given_.size(), false); }

void HorovodReducer::gradient_ready(int segment) {
  const auto index = static_cast<std::size_t>(segment);
  TANDEM_CHECK(!given_.at(index), "the gradient of segment {} is given twice in a step", segment);
  given_[index] = true;
  fused_.timer().part_ready(replica_.stream(), segment);
  replica_.stream().record(*ready_[index]);
  queue_.push(segment);
}

// Enqueues gradients that backward did not make: other ranks may have made them, and wait.
void HorovodReducer::enqueue_missing() {
  for (int segment = 0; segment < layout_.size(); ++segment) {
    const auto index = static_cast<std::size_t>(segment);
    if (given_[index]) continue;
    enqueue_zero(replica_.stream(), gradients_.tensors[index]);
    gradient_ready(segment);
  }
}

void HorovodReducer::finish() {
  Stream& compute = replica_.stream();
  enqueue_missing();
  replica_.timer().begin(compute, Phase::kExposedComm);
  std::optional<std::vector<Bytes>> groups;
  const auto failure = capture_error([&] { groups = queue_.await_launches(); });
  // A failure of this rank's own work says more than the other ranks' leaving.
  if (!groups) compute.synchronize();
  if (failure) throw Error(*failure);
  if (!groups) {
    fail(PeerFailure{.kind = PeerFailure::Kind::kAborted},
         "rank {}: another rank has ended, and gradients wait for it: look at its output",
         control_.rank());
  }
  latest_groups_ = std::move(*groups);
  // Horovod's handles are done once its finaliser has seen the end of the collective: the host
  // waits, and only then goes on to the update.
  fused_.stream().record(*reduced_);
  fused_.stream().synchronize();
  compute.wait(*reduced_);  // the event is done: the wait hands over its modelled time
  for (std::size_t index = 0; index < latest_groups_.size(); ++index) {
    fused_.timer().back(compute, index);
  }
}

void HorovodReducer::synchronize() {
  fused_.stream().synchronize();
  if (const auto failure = queue_.failure()) throw Error(*failure);
}

Tick HorovodReducer::cycle(TimePoint start) noexcept {
  Tick next = Tick::kLast;
  const auto failure = capture_error([&] { next = run_cycle(start); });
  if (failure) {
    // Other ranks must not wait for this rank's messages or collectives, which will not come.
    control_.abort();
    data_.abort();
  }
  if (next == Tick::kLast) queue_.end(failure);
  return next;
}

Tick HorovodReducer::run_cycle(TimePoint start) {
  const TensorQueue::Ready ready = queue_.take();
  const CycleDecision decision = controller_.run_cycle(ready.tensors, ready.shut_down);
  if (decision.shut_down) return Tick::kLast;
  queue_.note_launches(decision.tensors.size(), launch(decision.tensors));
  check_progress(!decision.tensors.empty(), start);
  return Tick::kAgain;
}

std::vector<Bytes> HorovodReducer::launch(const std::vector<int>& tensors) {
  std::vector<Response> responses;
  for (const int tensor : tensors) {
    const auto& segment = layout_.segments()[static_cast<std::size_t>(tensor)];
    responses.push_back({.tensor = tensor, .size = segment.size_bytes()});
  }
  std::vector<Bytes> sizes;
  for (const auto& group : fuse(responses, options_.fusion_threshold)) {
    fused_.enqueue(group, ready_, launched_groups_++);
    sizes.push_back(group.size);
  }
  // All of a step's gradients are launched before any of the next one's is ready.
  launched_tensors_ += tensors.size();
  if (launched_tensors_ == layout_.segments().size()) launched_tensors_ = launched_groups_ = 0;
  return sizes;
}

// A rank that never makes a gradient still takes part in the cycles, so that no exchange is late.
void HorovodReducer::check_progress(bool progress, TimePoint start) {
  const std::optional<int> tensor = controller_.undecided();
  if (!tensor) return waiting_since_.reset();
  if (progress || !waiting_since_) waiting_since_ = start;
  if (start - *waiting_since_ < options_.deadline) return;
  fail(PeerFailure{.kind = PeerFailure::Kind::kWaited, .waited = options_.deadline},
       "rank {} waited {} for other ranks to make the gradient of {}: look at their output",
       control_.rank(), to_string(Seconds(options_.deadline)),
       layout_.segments()[static_cast<std::size_t>(*tensor)].name);
}

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
