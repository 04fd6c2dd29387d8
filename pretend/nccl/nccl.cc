// SPDX-License-Identifier: Apache-2.0
//
// The functions of the pretended NCCL: communicators and what belongs to them.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/library_types.h"
#include "pretend/core/memory.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"
#include "pretend/nccl/communicator.h"
#include "pretend/nccl/meeting_file.h"

using namespace tandem::pretend;

namespace {

constexpr int kSystemError = 2;      // ncclSystemError
constexpr int kInvalidArgument = 4;  // ncclInvalidArgument
constexpr int kNoColor = -1;         // NCCL_SPLIT_NOCOLOR

// ncclUniqueId: the meeting's name, ended by a zero.
struct UniqueId {
  std::array<char, 128> text;
};

// What a handle of NCCL points to; the communicator itself may outlive it while somebody waits.
struct Handle {
  std::shared_ptr<RankCommunicator> communicator;
};

int make(Handle** made, const std::string& name, int rank, int ranks, int device) {
  static std::atomic<int> number{0};
  if (rank < 0 || rank >= ranks) return kInvalidArgument;
  std::unique_ptr<Meeting> meeting = Meeting::join(name, rank, ranks);
  if (meeting == nullptr) return kSystemError;
  *made =
      new Handle{std::make_shared<RankCommunicator>(std::move(meeting), name, device, ++number)};
  enlist((*made)->communicator);
  if (check::on) check::join((*made)->communicator->number(), name, rank, ranks);
  return 0;
}

// Inside a group one thread may make several ranks, which cannot wait for each other.
int make_and_wait(Handle** made, const std::string& name, int rank, int ranks) {
  const int status = make(made, name, rank, ranks, current_device());
  if (status != 0 || is_in_group()) return status;
  if (check::on) check::wait_for_call((*made)->communicator->number(), check::kJoin);
  return (*made)->communicator->meeting().wait_for_all() ? 0 : kSystemError;
}

int end(Handle* handle) {
  handle->communicator->leave();
  delete handle;
  return 0;
}

void say_leave(const Handle* handle, bool aborted) {
  if (check::on) check::leave(handle->communicator->number(), aborted);
}

UniqueId id_of(const std::string& name) {
  UniqueId id{};
  name.copy(id.text.data(), id.text.size() - 1);
  return id;
}

// The ranks of one color in the order of key, then of rank.
struct Wish {
  int color;
  int key;
};
struct PlaceInSplit {
  int rank = 0;
  int ranks = 0;
};
PlaceInSplit place_in(const std::vector<Wish>& places, int mine) {
  PlaceInSplit split;
  const Wish& my_place = places[static_cast<size_t>(mine)];
  for (int rank = 0; rank < static_cast<int>(places.size()); ++rank) {
    const Wish& place = places[static_cast<size_t>(rank)];
    if (place.color != my_place.color) continue;
    ++split.ranks;
    split.rank += place.key < my_place.key || (place.key == my_place.key && rank < mine) ? 1 : 0;
  }
  return split;
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

int run(const char* call, const Handle* handle, void* stream, const Collective& collective) {
  return submit(call, handle->communicator, collective, stream);
}

using enum CollectiveKind;

}  // namespace

extern "C" {

int ncclGetVersion(int* version) { return put(version, settings().versions.nccl); }

const char* ncclGetErrorString(int status) {
  return status == 0 ? "no error" : "error of Tandem's pretended NCCL";
}

const char* ncclGetLastError(const Handle*) { return ""; }

int ncclGetUniqueId(UniqueId* id) { return put(id, id_of(new_meeting_name())); }

int ncclCommInitRank(Handle** made, int ranks, UniqueId id, int rank) {
  return make_and_wait(made, id.text.data(), rank, ranks);
}

int ncclCommInitRankConfig(Handle** made, int ranks, UniqueId id, int rank, void*) {
  return make_and_wait(made, id.text.data(), rank, ranks);
}

int ncclCommInitRankScalable(Handle** made, int ranks, int rank, int, UniqueId* ids, void*) {
  return make_and_wait(made, ids->text.data(), rank, ranks);
}

int ncclCommInitAll(Handle** made, int ranks, const int* devices) {
  const std::string name = new_meeting_name();
  for (int rank = 0; rank < ranks; ++rank) {
    const int status =
        make(&made[rank], name, rank, ranks, devices == nullptr ? rank : devices[rank]);
    if (status != 0) return status;
  }
  return 0;
}

int ncclCommSplit(Handle* from, int color, int key, Handle** made, void*) {
  RankCommunicator& parent = *from->communicator;
  std::vector<Wish> places(static_cast<size_t>(parent.ranks()));
  const Wish mine{color, key};
  if (!parent.exchange(&mine, places.data(), sizeof mine)) return kSystemError;
  const std::string name =
      parent.name() + "-" + std::to_string(++parent.splits) + "-" + std::to_string(color);
  if (color == kNoColor) {
    *made = nullptr;
    return 0;
  }
  const PlaceInSplit split = place_in(places, parent.rank());
  return make_and_wait(made, name, split.rank, split.ranks);
}

int ncclCommCount(const Handle* handle, int* count) {
  return put(count, handle->communicator->ranks());
}

int ncclCommUserRank(const Handle* handle, int* rank) {
  return put(rank, handle->communicator->rank());
}

int ncclCommCuDevice(const Handle* handle, int* device) {
  return put(device, handle->communicator->device());
}

int ncclCommGetAsyncError(const Handle*, int* status) { return put(status, 0); }

int ncclCommFinalize(Handle* handle) {
  handle->communicator->finish();
  return 0;
}

int ncclCommDestroy(Handle* handle) {
  say_leave(handle, false);
  return end(handle);
}

// Said first: a thread that waits under --check holds what abort() needs.
int ncclCommAbort(Handle* handle) {
  say_leave(handle, true);
  handle->communicator->abort();
  return end(handle);
}

int ncclCommRegister(const Handle*, void* address, uint64_t, void** registered) {
  return put(registered, address);
}

int ncclMemAlloc(void** address, uint64_t bytes) {
  *address = memory::allocate(current_device(), bytes);
  return *address == nullptr ? kSystemError : 0;
}

int ncclMemFree(void* address) {
  return address == nullptr || memory::release(address) ? 0 : kInvalidArgument;
}

// Operations beyond the built-in five are known by number and never computed.
int ncclRedOpCreatePreMulSum(int* operation, void*, int, int, const Handle*) {
  return put(operation, 5);
}

int ncclGroupStart() { return start_group(); }

int ncclGroupEnd() { return end_group(); }

int ncclAllReduce(const void* send, void* receive, uint64_t count, int type, int operation,
                  const Handle* handle, void* stream) {
  return run("ncclAllReduce", handle, stream,
             make_collective(kAllReduce, send, receive, count, type, operation, -1));
}

int ncclReduce(const void* send, void* receive, uint64_t count, int type, int operation, int root,
               const Handle* handle, void* stream) {
  return run("ncclReduce", handle, stream,
             make_collective(kReduce, send, receive, count, type, operation, root));
}

int ncclBroadcast(const void* send, void* receive, uint64_t count, int type, int root,
                  const Handle* handle, void* stream) {
  return run("ncclBroadcast", handle, stream,
             make_collective(kBroadcast, send, receive, count, type, 0, root));
}

int ncclBcast(void* buffer, uint64_t count, int type, int root, const Handle* handle,
              void* stream) {
  return run("ncclBcast", handle, stream,
             make_collective(kBroadcast, buffer, buffer, count, type, 0, root));
}

int ncclAllGather(const void* send, void* receive, uint64_t count, int type, const Handle* handle,
                  void* stream) {
  return run("ncclAllGather", handle, stream,
             make_collective(kAllGather, send, receive, count, type, 0, -1));
}

int ncclReduceScatter(const void* send, void* receive, uint64_t count, int type, int operation,
                      const Handle* handle, void* stream) {
  return run("ncclReduceScatter", handle, stream,
             make_collective(kReduceScatter, send, receive, count, type, operation, -1));
}

int ncclGather(const void* send, void* receive, uint64_t count, int type, int root,
               const Handle* handle, void* stream) {
  return run("ncclGather", handle, stream,
             make_collective(kGather, send, receive, count, type, 0, root));
}

int ncclScatter(const void* send, void* receive, uint64_t count, int type, int root,
                const Handle* handle, void* stream) {
  return run("ncclScatter", handle, stream,
             make_collective(kScatter, send, receive, count, type, 0, root));
}

int ncclAlltoAll(const void* send, void* receive, uint64_t count, int type, const Handle* handle,
                 void* stream) {
  return run("ncclAlltoAll", handle, stream,
             make_collective(kAllToAll, send, receive, count, type, 0, -1));
}

int ncclSend(const void* send, uint64_t count, int type, int peer, const Handle* handle,
             void* stream) {
  return run("ncclSend", handle, stream,
             make_collective(kSend, send, nullptr, count, type, 0, peer));
}

int ncclRecv(void* receive, uint64_t count, int type, int peer, const Handle* handle,
             void* stream) {
  return run("ncclRecv", handle, stream,
             make_collective(kReceive, nullptr, receive, count, type, 0, peer));
}
}
