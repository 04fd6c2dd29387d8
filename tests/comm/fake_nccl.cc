// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/fake_nccl.h"

#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/comm/reduction.h"
#include "tests/comm/fake_nccl_state.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test::fake_nccl {

Global& global() {
  static Global one;
  return one;
}

void violate(const std::string& what) {
  const std::lock_guard lock(global().mutex);
  global().violations.push_back(what);
}

ncclResult_t failure_of(const std::string& function, int rank) {
  const std::lock_guard lock(global().mutex);
  for (const int who : {rank, -1}) {
    const auto it = global().failures.find({function, who});
    if (it == global().failures.end()) continue;
    const ncclResult_t result = it->second;
    global().failures.erase(it);
    return result;
  }
  return ncclSuccess;
}

Inside::Inside(ncclComm* comm, const std::string& function, const std::string& note) : comm_(comm) {
  if (comm->destroyed) violate(function + " on a communicator that is gone");
  std::thread::id who{};
  is_first_ = comm->inside.compare_exchange_strong(who, std::this_thread::get_id());
  if (!is_first_ && who != std::this_thread::get_id()) {
    violate(function + " while another thread is inside");
  }
  if (function == "ncclCommGetAsyncError") return;
  const std::lock_guard lock(global().mutex);
  global().calls[comm->rank].push_back(note.empty() ? function : function + " " + note);
}

Inside::~Inside() {
  if (is_first_) comm_->inside.store({});
}

namespace {

void count_living(int change) {
  const std::lock_guard lock(global().mutex);
  global().living += change;
}

ncclResult_t get_version(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t get_unique_id(ncclUniqueId* id) {
  if (const ncclResult_t result = failure_of("ncclGetUniqueId", 0)) return result;
  const std::lock_guard lock(global().mutex);
  std::memset(id->internal, 0, sizeof(id->internal));
  const std::string text = "id " + std::to_string(++global().ids);
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

const char* get_error_string(ncclResult_t) { return "text of the fake"; }
const char* get_last_error(ncclComm_t) { return "last words\nof the fake"; }

ncclResult_t comm_init_rank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  if (const ncclResult_t result = failure_of("ncclCommInitRank", rank)) return result;
  auto* const made = new ncclComm;
  made->rank = rank;
  bool is_stuck = false;
  {
    const std::lock_guard lock(global().mutex);
    ++global().living;
    auto& world = global().worlds[id.internal];
    if (!world) world = std::make_shared<World>();
    made->world = world;
    is_stuck = global().stuck.contains(rank);
  }
  World& world = *made->world;
  std::unique_lock lock(world.mutex);
  world.size = size;
  if (!is_stuck) ++world.joined;
  world.changed.notify_all();
  world.changed.wait(lock, [&] { return world.joined == size; });
  *comm = made;
  return ncclSuccess;
}

ncclResult_t get_async_error(ncclComm_t comm, ncclResult_t* result) {
  const Inside inside(comm, "ncclCommGetAsyncError");
  const std::lock_guard lock(global().mutex);
  const auto it = global().async_errors.find(comm->rank);
  *result = it != global().async_errors.end() ? it->second : ncclSuccess;
  return ncclSuccess;
}

ncclResult_t comm_finalize(ncclComm_t comm) {
  const Inside inside(comm, "ncclCommFinalize");
  std::unique_lock lock(comm->world->mutex);
  comm->world->changed.wait(lock, [] { return !global().sticks_at_end; });
  return ncclSuccess;
}

// Kept, so that a call on one that is gone is seen.
void end(ncclComm_t comm) {
  comm->destroyed = true;
  count_living(-1);
}

ncclResult_t comm_destroy(ncclComm_t comm) {
  const Inside inside(comm, "ncclCommDestroy");
  end(comm);
  return ncclSuccess;
}

ncclResult_t comm_abort(ncclComm_t comm) {
  const Inside inside(comm, "ncclCommAbort");
  {
    const std::lock_guard lock(comm->world->mutex);
    comm->aborted = true;
    comm->world->changed.notify_all();
  }
  end(comm);
  return ncclSuccess;
}

void check_quiet(const char* function) {
  if (global().on_streams > 0)
    violate(std::string(function) + " while a collective is on a stream");
}

nccl::Api make_api() {
  nccl::Api made;
  made.get_version = get_version;
  made.get_unique_id = get_unique_id;
  made.get_error_string = get_error_string;
  made.get_last_error = get_last_error;
  made.comm_init_rank = comm_init_rank;
  made.comm_finalize = comm_finalize;
  made.comm_destroy = comm_destroy;
  made.comm_abort = comm_abort;
  made.comm_get_async_error = get_async_error;
  add_calls(made);
  return made;
}

}  // namespace

const nccl::Api& api() {
  static const nccl::Api one = make_api();
  return one;
}

void watch_memory() {
  for (const char* const function : {"cudaMalloc", "cudaFree"}) {
    stand_in::on_each(function, [function] { check_quiet(function); });
  }
}

void scale(cuda::CudaStream& stream, AnySpan values, float factor) {
  stand_in::launch(stream.get(), [=] {
    reduce_elements({values.data()}, {values.data()}, {0, values.size()}, {values.dtype(), factor});
  });
}

void reset() {
  Global& g = global();
  const std::lock_guard lock(g.mutex);
  g.worlds.clear();
  g.failures.clear();
  g.async_errors.clear();
  g.stuck.clear();
  g.calls.clear();
  g.violations.clear();
  g.connects = false;
  g.sticks_at_end = false;
}

void fail_next(const std::string& function, ncclResult_t result, int rank) {
  const std::lock_guard lock(global().mutex);
  global().failures[{function, rank}] = result;
}

void connect_at_first_call() { global().connects = true; }

void set_async_error(int rank, ncclResult_t result) {
  const std::lock_guard lock(global().mutex);
  global().async_errors[rank] = result;
}

void stick_at_end() { global().sticks_at_end = true; }

void stick_at_start(int rank) {
  const std::lock_guard lock(global().mutex);
  global().stuck.insert(rank);
}

std::vector<std::string> violations() {
  const std::lock_guard lock(global().mutex);
  std::vector<std::string> all = global().violations;
  if (global().open_groups != 0) all.push_back("a group left open");
  return all;
}

std::vector<std::string> calls_of(int rank) {
  const std::lock_guard lock(global().mutex);
  return global().calls[rank];
}

int living() {
  const std::lock_guard lock(global().mutex);
  return global().living;
}

}  // namespace tandem::test::fake_nccl
