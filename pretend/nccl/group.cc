// SPDX-License-Identifier: Apache-2.0
#include "pretend/nccl/group.h"

#include <atomic>
#include <vector>

#include "pretend/core/device.h"
#include "pretend/core/library_types.h"
#include "pretend/core/log.h"

namespace tandem::pretend {
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
