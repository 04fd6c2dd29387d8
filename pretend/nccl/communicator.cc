// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/communicator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "pretend/core/device.h"
#include "pretend/core/library_types.h"
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

// A wait of a device's stream, or an access to memory, gets the values first that are due there.
void settle_device(const void* address, uint64_t bytes) {
  std::vector<std::shared_ptr<RankCommunicator>> all;
  {
    const std::lock_guard lock(communicators().mutex);
    all = communicators().all;
  }
  const int device = address == nullptr ? current_device() : memory::device_of(address);
  for (const std::shared_ptr<RankCommunicator>& communicator : all) {
    if (communicator->device() != device) {
      continue;
    }
    if (address == nullptr) {
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

void RankCommunicator::enqueue(const Collective& collective) {
  if (!is_computed(collective, ranks())) {
    if (received_bytes(collective, rank(), ranks()) > 0) {
      read_back::note_launch(device_);
    }
    return;
  }
  const std::lock_guard lock(mutex_);
  while (!due_.empty() && !meeting_->has_room()) {
    settle_first();
  }
  if (!meeting_->wait_for_room()) {
    return;
  }
  // Ranks that only get values put down what they have: the slots stay in step.
  const bool gives = collective.send != nullptr;
  const uint64_t number =
      meeting_->deposit(gives ? collective.send : "", gives ? sent_bytes(collective, ranks()) : 0);
  due_.push_back({collective, number});
  unsettled.fetch_add(1);
}

void RankCommunicator::settle_first() {
  const Due due = due_.front();
  due_.pop_front();
  unsettled.fetch_sub(1);
  if (!meeting_->wait_for(due.number)) {
    return;
  }
  compute(due.collective, *meeting_, due.number);
  meeting_->note_read(due.number);
  const uint64_t bytes = received_bytes(due.collective, rank(), ranks());
  if (bytes > 0) {
    read_back::note_known(device_, due.collective.receive, bytes);
  }
}

void RankCommunicator::settle() {
  const std::lock_guard lock(mutex_);
  while (!due_.empty()) {
    settle_first();
  }
}

void RankCommunicator::settle(const void* address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto meets = [&](const Due& due) {
    return touches(address, bytes, due.collective.receive,
                   received_bytes(due.collective, rank(), ranks()));
  };
  // In order: what comes before the last one that touches the bytes is due too.
  while (std::any_of(due_.begin(), due_.end(), meets)) {
    settle_first();
  }
}

void RankCommunicator::settle_complete() {
  const std::lock_guard lock(mutex_);
  while (!due_.empty() && meeting_->is_complete(due_.front().number)) {
    settle_first();
  }
}

bool RankCommunicator::exchange(const void* mine, void* all, uint64_t bytes) {
  settle();
  const std::lock_guard lock(mutex_);
  if (!meeting_->wait_for_room()) {
    return false;
  }
  const uint64_t number = meeting_->deposit(mine, bytes);
  if (!meeting_->wait_for(number)) {
    return false;
  }
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
};

struct Group {
  int depth = 0;
  int number = 0;
  std::vector<Submitted> submitted{};
};

// Made once per thread that uses NCCL, and kept: thread-local objects have no destructors here.
Group& group() {
  thread_local Group* group = nullptr;
  if (group == nullptr) {
    group = new Group;
  }
  return *group;
}

std::atomic<int> groups{0};

void enqueue_all(std::vector<Submitted>& submitted) {
  for (const Submitted& one : submitted) {
    one.communicator->enqueue(one.collective);
  }
  for (const Submitted& one : submitted) {
    one.communicator->settle_complete();
  }
  submitted.clear();
}

}  // namespace

bool is_in_group() { return group().depth > 0; }

int start_group() {
  Group& mine = group();
  if (mine.depth++ == 0) {
    mine.number = groups.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return 0;
}

int end_group() {
  constexpr int kInvalidUsage = 5;
  Group& mine = group();
  if (mine.depth == 0) {
    return kInvalidUsage;
  }
  if (--mine.depth > 0) {
    return 0;
  }
  log::Entry entry("ncclGroupEnd", RecordKind::kGroup);
  entry.at(current_device(), 0);
  entry.set(mine.number, mine.submitted.size());
  enqueue_all(mine.submitted);
  return 0;
}

Collective make_collective(CollectiveKind kind, const void* send, void* receive, uint64_t count,
                           int nccl_type, int operation, int root) {
  return {.kind = kind,
          .send = send,
          .receive = receive,
          .count = static_cast<int64_t>(count),
          .type = abi::from_nccl(nccl_type),
          .operation = operation,
          .root = root};
}

int submit(const char* call, const std::shared_ptr<RankCommunicator>& communicator,
           const Collective& collective, const void* stream) {
  log::Entry entry(call, RecordKind::kCollective);
  Group& mine = group();
  entry.at(communicator->device(), target_of(stream).stream);
  entry.text(name_of(collective.kind));
  entry.set(collective.count, sent_bytes(collective, communicator->ranks()), collective.type,
            communicator->rank(), communicator->ranks(), collective.root, communicator->number(),
            mine.depth > 0 ? mine.number : 0);
  mine.submitted.push_back({communicator, collective});
  if (mine.depth == 0) {
    enqueue_all(mine.submitted);
  }
  return 0;
}

}  // namespace tandem::pretend
