// SPDX-License-Identifier: Apache-2.0
//
// The functions of the pretended NCCL: communicators and what belongs to them.
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/memory.h"
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

int do_collective(const char* call, const Handle* handle, const Collective& collective,
                  void* stream) {
  return submit(call, handle->communicator, collective, stream);
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = settings().versions.nccl;
  return 0;
}

const char* ncclGetErrorString(int status) {
  return status == 0 ? "no error" : "error of Tandem's pretended NCCL";
}

const char* ncclGetLastError(const Handle*) { return ""; }

int ncclGetUniqueId(UniqueId* id) {
  *id = id_of(new_meeting_name());
  return 0;
}

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
  *count = handle->communicator->ranks();
  return 0;
}

int ncclCommUserRank(const Handle* handle, int* rank) {
  *rank = handle->communicator->rank();
  return 0;
}

int ncclCommCuDevice(const Handle* handle, int* device) {
  *device = handle->communicator->device();
  return 0;
}

int ncclCommGetAsyncError(const Handle*, int* status) {
  *status = 0;
  return 0;
}

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
  *registered = address;
  return 0;
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
  *operation = 5;
  return 0;
}

int ncclGroupStart() { return start_group(); }

int ncclGroupEnd() { return end_group(); }

int ncclAllReduce(const void* send, void* receive, uint64_t count, int type, int operation,
                  const Handle* handle, void* stream) {
  return do_collective(
      "ncclAllReduce", handle,
      make_collective(CollectiveKind::kAllReduce, send, receive, count, type, operation, -1),
      stream);
}

int ncclReduce(const void* send, void* receive, uint64_t count, int type, int operation, int root,
               const Handle* handle, void* stream) {
  return do_collective(
      "ncclReduce", handle,
      make_collective(CollectiveKind::kReduce, send, receive, count, type, operation, root),
      stream);
}

int ncclBroadcast(const void* send, void* receive, uint64_t count, int type, int root,
                  const Handle* handle, void* stream) {
  return do_collective(
      "ncclBroadcast", handle,
      make_collective(CollectiveKind::kBroadcast, send, receive, count, type, 0, root), stream);
}

int ncclBcast(void* buffer, uint64_t count, int type, int root, const Handle* handle,
              void* stream) {
  return do_collective(
      "ncclBcast", handle,
      make_collective(CollectiveKind::kBroadcast, buffer, buffer, count, type, 0, root), stream);
}

int ncclAllGather(const void* send, void* receive, uint64_t count, int type, const Handle* handle,
                  void* stream) {
  return do_collective(
      "ncclAllGather", handle,
      make_collective(CollectiveKind::kAllGather, send, receive, count, type, 0, -1), stream);
}

int ncclReduceScatter(const void* send, void* receive, uint64_t count, int type, int operation,
                      const Handle* handle, void* stream) {
  return do_collective(
      "ncclReduceScatter", handle,
      make_collective(CollectiveKind::kReduceScatter, send, receive, count, type, operation, -1),
      stream);
}

int ncclGather(const void* send, void* receive, uint64_t count, int type, int root,
               const Handle* handle, void* stream) {
  return do_collective(
      "ncclGather", handle,
      make_collective(CollectiveKind::kGather, send, receive, count, type, 0, root), stream);
}

int ncclScatter(const void* send, void* receive, uint64_t count, int type, int root,
                const Handle* handle, void* stream) {
  return do_collective(
      "ncclScatter", handle,
      make_collective(CollectiveKind::kScatter, send, receive, count, type, 0, root), stream);
}

int ncclAlltoAll(const void* send, void* receive, uint64_t count, int type, const Handle* handle,
                 void* stream) {
  return do_collective(
      "ncclAlltoAll", handle,
      make_collective(CollectiveKind::kAllToAll, send, receive, count, type, 0, -1), stream);
}

int ncclSend(const void* send, uint64_t count, int type, int peer, const Handle* handle,
             void* stream) {
  return do_collective("ncclSend", handle,
                       make_collective(CollectiveKind::kSend, send, nullptr, count, type, 0, peer),
                       stream);
}

int ncclRecv(void* receive, uint64_t count, int type, int peer, const Handle* handle,
             void* stream) {
  return do_collective(
      "ncclRecv", handle,
      make_collective(CollectiveKind::kReceive, nullptr, receive, count, type, 0, peer), stream);
}
}
