// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/comm/reduction.h"
#include "tests/comm/fake_nccl_state.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test::fake_nccl {
namespace {

using Bytes = std::vector<std::byte>;

std::size_t size_of(ncclDataType_t type) { return type == ncclFloat32 ? 4 : 2; }

DType dtype_of(ncclDataType_t type) {
  if (type == ncclFloat32) return DType::kFloat32;
  return type == ncclBfloat16 ? DType::kBFloat16 : DType::kFloat16;
}

// A call in a thread's open group.
struct Grouped {
  ncclComm* comm;
  cudaStream_t stream;
  bool is_message;
  std::function<void()> first;   // of a message: posts it; else all
  std::function<void()> second;  // of a message: takes it, or waits until it is taken
  std::shared_ptr<const Inside> inside;
};
thread_local int depth = 0;
thread_local std::vector<Grouped> group;

void on_stream(cudaStream_t stream, std::function<void()> body) {
  ++global().on_streams;
  stand_in::launch(stream, [body = std::move(body)] {
    body();
    --global().on_streams;
  });
}

using GroupByComm = std::map<ncclComm*, std::vector<Grouped>>;

// All of the group at once: each would else wait for the next. Messages connect two ranks alone,
// which is left out.
void connect(const GroupByComm& by_comm) {
  if (!global().connects) return;
  std::vector<ncclComm*> waiting;
  for (const auto& [comm, calls] : by_comm) {
    if (comm->connected || calls.front().is_message) continue;
    waiting.push_back(comm);
    comm->connected = true;
    const std::lock_guard lock(comm->world->mutex);
    ++comm->world->connected;
    comm->world->changed.notify_all();
  }
  for (ncclComm* const comm : waiting) {
    World& world = *comm->world;
    std::unique_lock lock(world.mutex);
    world.changed.wait(lock, [&] { return world.connected == world.size; });
  }
}

// At the end of the outermost group: messages of one communicator go on at the same time.
void launch_group() {
  GroupByComm by_comm;
  for (Grouped& call : group) by_comm[call.comm].push_back(std::move(call));
  group.clear();
  connect(by_comm);
  for (const auto& [comm, calls] : by_comm) {
    std::vector<std::pair<std::function<void()>, std::function<void()>>> messages;
    cudaStream_t stream = nullptr;
    for (const Grouped& call : calls) {
      if (!call.is_message) {
        on_stream(call.stream, call.first);
        continue;
      }
      stream = call.stream;
      messages.emplace_back(call.first, call.second);
    }
    if (messages.empty()) continue;
    on_stream(stream, [messages] {
      for (const auto& [post, take] : messages) post();
      for (const auto& [post, take] : messages) take();
    });
  }
}

ncclResult_t add(Grouped call) {
  group.push_back(std::move(call));
  if (depth == 0) launch_group();
  return ncclSuccess;
}

// ---- what runs on the streams' workers ----

template <class Condition>
bool wait_in(ncclComm* comm, std::unique_lock<std::mutex>& lock, Condition&& condition) {
  comm->world->changed.wait(lock, [&] { return comm->aborted || condition(); });
  return !comm->aborted;
}

using Compute = std::function<Bytes(const std::vector<const std::byte*>& parts)>;

// All ranks bring their part; when all have worked out their result, each writes it.
void run_collective(ncclComm* comm, std::uint64_t number, const void* send, void* receive,
                    const Compute& compute) {
  World& world = *comm->world;
  std::unique_lock lock(world.mutex);
  World::Operation& operation = world.operations[number];
  operation.send.resize(static_cast<std::size_t>(world.size));
  operation.send[static_cast<std::size_t>(comm->rank)] = static_cast<const std::byte*>(send);
  ++operation.arrived;
  world.changed.notify_all();
  if (!wait_in(comm, lock, [&] { return operation.arrived >= world.size; })) return;
  const Bytes result = compute(operation.send);
  ++operation.computed;
  world.changed.notify_all();
  if (!wait_in(comm, lock, [&] { return operation.computed >= world.size; })) return;
  if (!result.empty()) std::memcpy(receive, result.data(), result.size());
}

Bytes copy_of(const std::byte* from, std::size_t size) { return {from, from + size}; }

Bytes sum_of(const std::vector<const std::byte*>& parts, std::size_t count, ncclDataType_t type) {
  Bytes result(count * size_of(type));
  reduce_elements(parts, {result.data()}, {0, static_cast<std::int64_t>(count)},
                  {dtype_of(type), 1});
  return result;
}

ncclResult_t collective(const char* function, ncclComm* comm, cudaStream_t stream, const void* send,
                        void* receive, std::size_t count, Compute compute) {
  auto inside = std::make_shared<Inside>(comm, function, std::to_string(count));
  if (const ncclResult_t result = failure_of(function, comm->rank)) return result;
  const std::uint64_t number = ++comm->operations;
  return add(
      {comm, stream, false,
       [=, compute = std::move(compute)] { run_collective(comm, number, send, receive, compute); },
       nullptr, std::move(inside)});
}

// ---- the functions ----

ncclResult_t group_start() {
  if (const ncclResult_t result = failure_of("ncclGroupStart", -1)) return result;
  ++global().open_groups;
  ++depth;
  return ncclSuccess;
}

ncclResult_t group_end() {
  --global().open_groups;
  if (--depth > 0) return ncclSuccess;
  if (const ncclResult_t result = failure_of("ncclGroupEnd", -1)) {
    group.clear();
    return result;
  }
  launch_group();
  return ncclSuccess;
}

ncclResult_t all_reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (op != ncclSum) violate("a reduction that is no sum");
  return collective("ncclAllReduce", comm, stream, send, receive, count,
                    [=](const auto& parts) { return sum_of(parts, count, type); });
}

ncclResult_t broadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                       int root, ncclComm_t comm, cudaStream_t stream) {
  return collective("ncclBroadcast", comm, stream, send, receive, count, [=](const auto& parts) {
    return copy_of(parts[static_cast<std::size_t>(root)], count * size_of(type));
  });
}

ncclResult_t reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                    ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  if (op != ncclSum) violate("a reduction that is no sum");
  return collective("ncclReduce", comm, stream, send, receive, count, [=](const auto& parts) {
    return comm->rank == root ? sum_of(parts, count, type) : Bytes{};
  });
}

// Done when it was taken: a message waits for its receiver.
ncclResult_t send(const void* data, std::size_t count, ncclDataType_t type, int peer,
                  ncclComm_t comm, cudaStream_t stream) {
  auto inside = std::make_shared<Inside>(comm, "ncclSend", std::to_string(count));
  if (const ncclResult_t result = failure_of("ncclSend", comm->rank)) return result;
  auto message = std::make_shared<World::Message>();
  message->data = static_cast<const std::byte*>(data);
  message->size = count * size_of(type);
  return add({comm, stream, true,
              [=] {
                const std::lock_guard lock(comm->world->mutex);
                comm->world->messages[{comm->rank, peer}].push_back(message);
                comm->world->changed.notify_all();
              },
              [=] {
                std::unique_lock lock(comm->world->mutex);
                static_cast<void>(wait_in(comm, lock, [&] { return message->taken; }));
              },
              std::move(inside)});
}

ncclResult_t recv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) {
  auto inside = std::make_shared<Inside>(comm, "ncclRecv", std::to_string(count));
  if (const ncclResult_t result = failure_of("ncclRecv", comm->rank)) return result;
  return add({comm, stream, true, [] {},
              [=] {
                std::unique_lock lock(comm->world->mutex);
                auto& messages = comm->world->messages[{peer, comm->rank}];
                if (!wait_in(comm, lock, [&] { return !messages.empty(); })) return;
                const auto message = messages.front();
                messages.pop_front();
                if (message->size != count * size_of(type)) violate("a message of another size");
                std::memcpy(data, message->data, std::min(message->size, count * size_of(type)));
                message->taken = true;
                comm->world->changed.notify_all();
              },
              std::move(inside)});
}

}  // namespace

void add_calls(nccl::Api& api) {
  api.group_start = group_start;
  api.group_end = group_end;
  api.all_reduce = all_reduce;
  api.broadcast = broadcast;
  api.reduce = reduce;
  api.send = send;
  api.recv = recv;
}

}  // namespace tandem::test::fake_nccl
