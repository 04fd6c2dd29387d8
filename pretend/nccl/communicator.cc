// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/communicator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "pretend/core/capture.h"
#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/memory.h"
#include "pretend/core/read_back.h"

namespace tandem::pretend {
namespace {

struct Communicators {
  std::mutex mutex{};
  std::vector<std::shared_ptr<RankCommunicator>> all{};
};

Communicators& communicators() {
  static Communicators* const communicators = new Communicators;
  return *communicators;
}

bool touches(const void* begin, uint64_t bytes, const void* other, uint64_t other_bytes) {
  const auto* const one = static_cast<const char*>(begin);
  const auto* const two = static_cast<const char*>(other);
  return one < two + other_bytes && two < one + bytes;
}

bool is_given_by_another(const Collective& collective, int rank) {
  return (collective.kind == CollectiveKind::kBroadcast ||
          collective.kind == CollectiveKind::kScatter) &&
         collective.root != rank;
}

// A wait of a device's stream, or an access to memory, gets the values first that are due there.
void settle_device(const void* address, uint64_t bytes) {
  std::vector<std::shared_ptr<RankCommunicator>> all;
  {
    const std::lock_guard lock(communicators().mutex);
    all = communicators().all;
  }
  const int device = address == nullptr ? current_device() : memory::device_of(address);
  for (const std::shared_ptr<RankCommunicator>& communicator : all) {
    if (communicator->device() != device) continue;
    if (address == nullptr && check::on) {
      communicator->settle_complete();  // the host has waited for what stands before it
    } else if (address == nullptr) {
      communicator->settle();
    } else {
      communicator->settle(address, bytes);
    }
  }
}

}  // namespace

void enlist(const std::shared_ptr<RankCommunicator>& communicator) {
  set_settle(settle_device);
  const std::lock_guard lock(communicators().mutex);
  communicators().all.push_back(communicator);
}

void strike(const RankCommunicator* communicator) {
  const std::lock_guard lock(communicators().mutex);
  std::erase_if(communicators().all,
                [&](const auto& known) { return known.get() == communicator; });
}

// Made at the first value that goes this way. Who sends is rank 0 of the two.
RankCommunicator* RankCommunicator::with_peer(const Collective& collective) {
  const bool sends = collective.kind == CollectiveKind::kSend;
  const int peer = collective.root;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<RankCommunicator>& made = with_peers_[{peer, sends}];
  if (made == nullptr) {
    const std::string name = name_ + "-from-" + std::to_string(sends ? rank() : peer) + "-to-" +
                             std::to_string(sends ? peer : rank());
    std::unique_ptr<Meeting> meeting = Meeting::join(name, sends ? 0 : 1, 2);
    if (meeting == nullptr) return nullptr;
    made = std::make_shared<RankCommunicator>(std::move(meeting), name, device_, number_);
    enlist(made);
  }
  return made.get();
}

void RankCommunicator::finish() {
  settle();
  const std::lock_guard lock(mutex_);
  for (const auto& [peer, made] : with_peers_) {
    if (made != nullptr) made->settle();
  }
}

void RankCommunicator::drop_due() {
  for (const Due& due : due_) {
    read_back::note_unknown(device_, due.collective.receive,
                            received_bytes(due.collective, rank(), ranks()));
  }
  unsettled.fetch_sub(static_cast<int>(due_.size()));
  due_.clear();
}

void RankCommunicator::leave() {
  const std::lock_guard lock(mutex_);
  for (const auto& [peer, made] : with_peers_) {
    if (made != nullptr) made->leave();
  }
  drop_due();
  strike(this);
}

void RankCommunicator::abort() {
  meeting_->abort();
  const std::lock_guard lock(mutex_);
  for (const auto& [peer, made] : with_peers_) {
    if (made != nullptr) made->meeting_->abort();
  }
}

RankCommunicator* RankCommunicator::of(const Collective& collective) {
  return is_of_two(collective.kind) && is_computed(collective, ranks()) ? with_peer(collective)
                                                                        : this;
}

void RankCommunicator::enqueue(const Collective& collective, uint64_t call) {
  if (!is_computed(collective, ranks())) {
    if (const uint64_t bytes = received_bytes(collective, rank(), ranks()); bytes > 0) {
      read_back::note_unknown(device_, collective.receive, bytes);
    }
    return;
  }
  const std::lock_guard lock(mutex_);
  while (!due_.empty() && !meeting_->has_room()) settle_first();
  if (!meeting_->wait_for_room()) return;
  // Ranks that only get values put down what they have: the slots stay in step.
  const bool gives = collective.send != nullptr;
  const uint64_t number =
      meeting_->deposit(gives ? collective.send : "", gives ? sent_bytes(collective, ranks()) : 0);
  // What another rank alone gives is taken as known.
  const bool known = !gives || is_given_by_another(collective, rank()) ||
                     read_back::known_bytes(device_, collective.send, 1) > 0;
  if (collective.kind == CollectiveKind::kSend) {
    meeting_->note_read(number);
    return;
  }
  due_.push_back({collective, number, call, known});
  unsettled.fetch_add(1);
}

void RankCommunicator::settle_first() {
  const Due due = due_.front();
  due_.pop_front();
  unsettled.fetch_sub(1);
  if (check::on) check::wait_for_call(number_, due.call);
  if (!meeting_->wait_for(due.number)) return;
  compute(due.collective, *meeting_, due.number);
  meeting_->note_read(due.number);
  const uint64_t bytes = received_bytes(due.collective, rank(), ranks());
  if (bytes > 0 && due.known) {
    read_back::note_known(device_, due.collective.receive, bytes);
  } else if (bytes > 0) {
    read_back::note_unknown(device_, due.collective.receive, bytes);
  }
}

void RankCommunicator::settle() {
  const std::lock_guard lock(mutex_);
  while (!due_.empty()) settle_first();
}

void RankCommunicator::settle(const void* address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto meets = [&](const Due& due) {
    return touches(address, bytes, due.collective.receive,
                   received_bytes(due.collective, rank(), ranks()));
  };
  // In order: what comes before the last one that touches the bytes is due too.
  while (std::any_of(due_.begin(), due_.end(), meets)) settle_first();
}

void RankCommunicator::settle_complete() {
  const std::lock_guard lock(mutex_);
  while (!due_.empty() && meeting_->is_complete(due_.front().number)) settle_first();
}

bool RankCommunicator::exchange(const void* mine, void* all, uint64_t bytes) {
  settle();
  if (check::on) {
    std::vector<check::Call> split{
        {.communicator = number_, .what = "split 0 other 0 -1", .target = {device_, 0}}};
    check::call(split);
    check::wait_for_call(number_, split[0].number);
  }
  const std::lock_guard lock(mutex_);
  if (!meeting_->wait_for_room()) return false;
  const uint64_t number = meeting_->deposit(mine, bytes);
  if (!meeting_->wait_for(number)) return false;
  for (int rank = 0; rank < ranks(); ++rank) {
    std::memcpy(static_cast<char*>(all) + static_cast<uint64_t>(rank) * bytes,
                meeting_->deposited_by(rank, number), bytes);
  }
  meeting_->note_read(number);
  return true;
}

namespace {

struct Submitted {
  std::shared_ptr<RankCommunicator> communicator;
  Collective collective;
  uint32_t stream;
};

// A collective on a stream that is captured, for the graph.
struct Captured {
  const char* call;
  Submitted submitted;
  const void* stream;
};

struct Group {
  int depth = 0;
  int number = 0;
  std::vector<Submitted> submitted{};
  std::vector<Captured> captured{};
};

// Made once per thread that uses NCCL, and kept: thread-local objects have no destructors here.
Group& group() {
  thread_local Group* group = nullptr;
  if (group == nullptr) group = new Group;
  return *group;
}

std::atomic<int> groups{0};

std::vector<check::Call> calls_of(const std::vector<Submitted>& submitted) {
  std::vector<check::Call> calls;
  for (const auto& [communicator, collective, stream] : submitted) {
    std::ostringstream what;
    what << name_of(collective.kind) << ' ' << collective.count << ' ' << name_of(collective.type)
         << ' ' << collective.operation << ' ' << collective.root;
    calls.push_back({.communicator = communicator->number(),
                     .what = what.str(),
                     .target = {communicator->device(), stream}});
  }
  return calls;
}

void enqueue(RankCommunicator& communicator, const Collective& collective, uint64_t call) {
  RankCommunicator* const meets = communicator.of(collective);
  if (meets != nullptr) {
    meets->enqueue(collective, call);
  } else if (collective.receive != nullptr) {
    read_back::note_unknown(communicator.device(), collective.receive,
                            received_bytes(collective, communicator.rank(), communicator.ranks()));
  }
}

void settle_complete(RankCommunicator& communicator, const Collective& collective) {
  if (unsettled.load(std::memory_order_relaxed) == 0) return;
  RankCommunicator* const meets = communicator.of(collective);
  if (meets != nullptr) meets->settle_complete();
}

void enqueue_all(std::vector<Submitted>& submitted) {
  std::vector<check::Call> calls;
  if (check::on && !submitted.empty()) {
    calls = calls_of(submitted);
    check::call(calls);
  }
  for (size_t at = 0; at < submitted.size(); ++at) {
    enqueue(*submitted[at].communicator, submitted[at].collective,
            calls.empty() ? 0 : calls[at].number);
  }
  for (const Submitted& one : submitted) settle_complete(*one.communicator, one.collective);
  submitted.clear();
}

// Within a group it is kept for the group's end.
bool is_captured(const Captured& one) {
  if (group().depth == 0) {
    return capture::keep(one.stream, capture::NodeType::kKernel, [=](const void* on) {
      submit(one.call, one.submitted.communicator, one.submitted.collective, on);
    });
  }
  const bool is_captured = capture::info_of(one.stream).status != capture::Status::kNone;
  if (is_captured) group().captured.push_back(one);
  return is_captured;
}

// A graph has the whole group as one of its calls, on the stream of the group's first collective.
void capture_group(std::vector<Captured> captured) {
  const void* const stream = captured.front().stream;
  capture::keep(stream, capture::NodeType::kKernel, [all = std::move(captured)](const void* on) {
    start_group();
    for (const Captured& one : all) {
      submit(one.call, one.submitted.communicator, one.submitted.collective, on);
    }
    end_group();
  });
}

}  // namespace

bool is_in_group() { return group().depth > 0; }

int start_group() {
  Group& mine = group();
  if (mine.depth++ == 0) mine.number = groups.fetch_add(1, std::memory_order_relaxed) + 1;
  return 0;
}

int end_group() {
  constexpr int kInvalidUsage = 5;
  Group& mine = group();
  if (mine.depth == 0) return kInvalidUsage;
  if (--mine.depth > 0) return 0;
  if (!mine.captured.empty()) {
    capture_group(std::exchange(mine.captured, {}));
    if (mine.submitted.empty()) return 0;
  }
  log::Entry entry("ncclGroupEnd", RecordKind::kGroup);
  entry.at(current_device(), 0);
  entry.set(mine.number, mine.submitted.size());
  enqueue_all(mine.submitted);
  return 0;
}

int submit(const char* call, const std::shared_ptr<RankCommunicator>& communicator,
           const Collective& collective, const void* stream) {
  Group& mine = group();
  const uint32_t stream_number = target_of(stream).stream;
  if (capture::is_any() && is_captured({call, {communicator, collective, stream_number}, stream})) {
    return 0;
  }
  log::Entry entry(call, RecordKind::kCollective);
  entry.at(communicator->device(), stream_number);
  entry.text(name_of(collective.kind));
  entry.set(collective.count, sent_bytes(collective, communicator->ranks()), collective.type,
            communicator->rank(), communicator->ranks(), collective.root, communicator->number(),
            mine.depth > 0 ? mine.number : 0);
  if (mine.depth == 0 && !check::on) {                            // nearly all calls
    const std::shared_ptr<RankCommunicator> kept = communicator;  // where an abort ends a wait
    enqueue(*kept, collective, 0);
    settle_complete(*kept, collective);
    return 0;
  }
  mine.submitted.push_back({communicator, collective, stream_number});
  if (mine.depth == 0) enqueue_all(mine.submitted);
  return 0;
}

}  // namespace tandem::pretend
