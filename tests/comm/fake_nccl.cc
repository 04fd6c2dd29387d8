// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/fake_nccl.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "common/comm/reduction.h"
#include "tests/runtime/stand_in_cudart.h"

namespace {

using tandem::DType;
using tandem::test::fake_nccl::violations;
namespace stand_in = tandem::testing::stand_in;

using Bytes = std::vector<std::byte>;

// What the ranks of one communicator have in common.
struct World {
  struct Operation {
    std::vector<const std::byte*> send;
    int arrived = 0;
    int computed = 0;
  };
  struct Message {
    const std::byte* data = nullptr;
    std::size_t size = 0;
    bool taken = false;
  };
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0;
  int joined = 0;
  int finalized = 0;
  std::map<std::uint64_t, Operation> operations;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> messages;
};

struct Global {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<World>> worlds;
  std::map<std::pair<std::string, int>, ncclResult_t> failures;
  std::map<int, ncclResult_t> async_errors;
  std::set<int> stuck;
  std::map<int, std::vector<std::string>> calls;
  std::vector<std::string> violations;
  std::set<void*> memory;
  std::atomic<int> looks{0};
  int ids = 0;
  int living = 0;
};

Global& global() {
  static Global one;
  return one;
}

std::atomic<int> on_streams{0};
std::atomic<int> open_groups{0};

void violate(const std::string& what) {
  const std::lock_guard lock(global().mutex);
  global().violations.push_back(what);
}

void count_living(int change) {
  const std::lock_guard lock(global().mutex);
  global().living += change;
}

std::size_t size_of(ncclDataType_t type) { return type == ncclFloat32 ? 4 : 2; }

DType dtype_of(ncclDataType_t type) {
  if (type == ncclFloat32) return DType::kFloat32;
  return type == ncclBfloat16 ? DType::kBFloat16 : DType::kFloat16;
}

}  // namespace

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
  std::atomic<bool> aborted{false};
  std::atomic<bool> inside{false};
  bool destroyed = false;
  bool stuck = false;
  bool finalizing = false;
  int looks = 0;                               // left before what waits is launched
  std::vector<std::function<void()>> waiting;  // to be put on streams
  std::uint64_t operations = 0;
  std::shared_ptr<int> graphs = std::make_shared<int>();  // shared by what was captured
};

namespace {

// Of a thread's open group.
struct Grouped {
  ncclComm* comm;
  cudaStream_t stream;
  bool is_message;
  std::function<void()> first;   // of a message: posts it; else all
  std::function<void()> second;  // of a message: takes it, or waits until it is taken
};
thread_local int depth = 0;
thread_local std::vector<Grouped> group;

// One call on a communicator, from its begin to its end.
class Inside {
 public:
  Inside(ncclComm* comm, const std::string& function, const std::string& note = "") : comm_(comm) {
    if (comm->destroyed) violate(function + " on a communicator that is gone");
    if (comm->inside.exchange(true)) violate(function + " while another thread is inside");
    if (function == "ncclCommGetAsyncError") return;
    const std::lock_guard lock(global().mutex);
    global().calls[comm->rank].push_back(note.empty() ? function : function + " " + note);
  }
  ~Inside() { comm_->inside.store(false); }

 private:
  ncclComm* const comm_;
};

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

// What is captured is on a stream only while a replay runs it.
void on_stream(cudaStream_t stream, std::function<void()> body) {
  if (stand_in::is_captured(stream)) {
    return stand_in::launch(stream, [body = std::move(body)] {
      ++on_streams;
      body();
      --on_streams;
    });
  }
  ++on_streams;
  stand_in::launch(stream, [body = std::move(body)] {
    body();
    --on_streams;
  });
}

// At the end of the outermost group: messages of one communicator go on at the same time.
void launch_group() {
  std::map<ncclComm*, std::vector<Grouped>> by_comm;
  for (Grouped& call : group) by_comm[call.comm].push_back(std::move(call));
  group.clear();
  for (auto& [comm, calls] : by_comm) {
    std::vector<Grouped> messages;
    for (Grouped& call : calls) {
      if (call.is_message) {
        messages.push_back(call);
      } else {
        comm->waiting.push_back([call] { on_stream(call.stream, call.first); });
      }
    }
    if (!messages.empty()) {
      comm->waiting.push_back([messages] {
        on_stream(messages.front().stream, [messages] {
          for (const Grouped& message : messages) message.first();
          for (const Grouped& message : messages) message.second();
        });
      });
    }
    comm->looks = global().looks;
    if (comm->looks > 0) continue;
    for (const auto& put : std::exchange(comm->waiting, {})) put();
  }
}

ncclResult_t add(Grouped call) {
  const bool waits = global().looks > 0;
  group.push_back(std::move(call));
  if (depth > 0) return ncclSuccess;
  launch_group();
  return waits ? ncclInProgress : ncclSuccess;
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

Bytes sum_of(const std::vector<const std::byte*>& parts, std::int64_t first, std::size_t count,
             ncclDataType_t type) {
  Bytes result(count * size_of(type));
  std::vector<const std::byte*> sources;
  for (const std::byte* const part : parts) {
    sources.push_back(part + first * static_cast<std::int64_t>(size_of(type)));
  }
  tandem::reduce_elements(sources, {result.data()}, {0, static_cast<std::int64_t>(count)},
                          {dtype_of(type), 1});
  return result;
}

ncclResult_t collective(const char* function, ncclComm* comm, cudaStream_t stream, const void* send,
                        void* receive, std::size_t count, Compute compute) {
  const Inside inside(comm, function, std::to_string(count));
  if (const ncclResult_t result = failure_of(function, comm->rank)) return result;
  // A captured one is another in each replay, of which all ranks run the same.
  constexpr std::uint64_t kPerReplay = std::uint64_t{1} << 32U;
  const std::uint64_t first = ++comm->operations;
  const auto runs = std::make_shared<std::uint64_t>(0);
  const auto graph = stand_in::is_captured(stream) ? comm->graphs : nullptr;
  return add({comm, stream, false,
              [=, compute = std::move(compute)] {
                static_cast<void>(graph);  // held for as long as this is
                run_collective(comm, first + kPerReplay * (*runs)++, send, receive, compute);
              },
              nullptr});
}

// ---- the functions ----

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

ncclResult_t comm_init_rank_config(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                   ncclConfig_t* config) {
  if (config->blocking != 0) violate("a communicator that blocks");
  if (const ncclResult_t result = failure_of("ncclCommInitRankConfig", rank)) return result;
  auto* const made = new ncclComm;
  made->rank = rank;
  {
    const std::lock_guard lock(global().mutex);
    ++global().living;
    auto& world = global().worlds[id.internal];
    if (!world) world = std::make_shared<World>();
    made->world = world;
    made->stuck = global().stuck.contains(rank);
  }
  const std::lock_guard lock(made->world->mutex);
  made->world->size = size;
  if (!made->stuck) ++made->world->joined;
  *comm = made;
  return ncclInProgress;
}

ncclResult_t get_async_error(ncclComm_t comm, ncclResult_t* result) {
  const Inside inside(comm, "ncclCommGetAsyncError");
  {
    const std::lock_guard lock(global().mutex);
    const auto it = global().async_errors.find(comm->rank);
    if (it != global().async_errors.end()) {
      *result = it->second;
      return ncclSuccess;
    }
  }
  {
    const std::lock_guard lock(comm->world->mutex);
    const World& world = *comm->world;
    const bool starting = world.joined < world.size;
    const bool ending = comm->finalizing && world.finalized < world.size;
    *result = starting || ending ? ncclInProgress : ncclSuccess;
  }
  if (*result != ncclSuccess || comm->waiting.empty()) return ncclSuccess;
  if (comm->looks-- > 0) {
    *result = ncclInProgress;
  } else {
    for (const auto& put : std::exchange(comm->waiting, {})) put();
  }
  return ncclSuccess;
}

ncclResult_t comm_finalize(ncclComm_t comm) {
  const Inside inside(comm, "ncclCommFinalize");
  const std::lock_guard lock(comm->world->mutex);
  comm->finalizing = true;
  ++comm->world->finalized;
  return ncclInProgress;
}

// Kept, so that a call on one that is gone is seen.
void end(ncclComm_t comm, const char* function) {
  const Inside inside(comm, function);
  comm->destroyed = true;
  count_living(-1);
}

ncclResult_t comm_destroy(ncclComm_t comm) {
  if (comm->graphs.use_count() > 1) violate("ncclCommDestroy before a graph of its calls");
  end(comm, "ncclCommDestroy");
  return ncclSuccess;
}

ncclResult_t comm_abort(ncclComm_t comm) {
  {
    const std::lock_guard lock(comm->world->mutex);
    comm->aborted = true;
    comm->world->changed.notify_all();
  }
  while (comm->graphs.use_count() > 1) std::this_thread::yield();  // as NCCL waits
  end(comm, "ncclCommAbort");
  return ncclSuccess;
}

ncclResult_t group_start() {
  if (const ncclResult_t result = failure_of("ncclGroupStart", -1)) return result;
  ++open_groups;
  ++depth;
  return ncclSuccess;
}

ncclResult_t group_end() {
  --open_groups;
  const bool waits = global().looks > 0 && !group.empty();
  if (--depth > 0) return ncclSuccess;
  if (const ncclResult_t result = failure_of("ncclGroupEnd", -1)) {
    group.clear();
    return result;
  }
  launch_group();
  return waits ? ncclInProgress : ncclSuccess;
}

ncclResult_t all_reduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (op != ncclSum) violate("a reduction that is no sum");
  return collective("ncclAllReduce", comm, stream, send, receive, count,
                    [=](const auto& parts) { return sum_of(parts, 0, count, type); });
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
    return comm->rank == root ? sum_of(parts, 0, count, type) : Bytes{};
  });
}

ncclResult_t all_gather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclComm_t comm, cudaStream_t stream) {
  return collective("ncclAllGather", comm, stream, send, receive, count, [=](const auto& parts) {
    Bytes all;
    for (const std::byte* const part : parts) {
      all.insert(all.end(), part, part + count * size_of(type));
    }
    return all;
  });
}

ncclResult_t reduce_scatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                            ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (op != ncclSum) violate("a reduction that is no sum");
  return collective("ncclReduceScatter", comm, stream, send, receive, count,
                    [=](const auto& parts) {
                      const auto first = comm->rank * static_cast<std::int64_t>(count);
                      return sum_of(parts, first, count, type);
                    });
}

// Done when it was taken: a message waits for its receiver.
ncclResult_t send(const void* data, std::size_t count, ncclDataType_t type, int peer,
                  ncclComm_t comm, cudaStream_t stream) {
  const Inside inside(comm, "ncclSend", std::to_string(count));
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
              }});
}

ncclResult_t recv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) {
  const Inside inside(comm, "ncclRecv", std::to_string(count));
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
              }});
}

void check_quiet(const char* function) {
  if (on_streams > 0) violate(std::string(function) + " while a collective is on a stream");
}

ncclResult_t mem_alloc(void** data, std::size_t size) {
  check_quiet("ncclMemAlloc");
  if (const ncclResult_t result = failure_of("ncclMemAlloc", -1)) return result;
  if (cudaMalloc(data, size) != cudaSuccess) return ncclUnhandledCudaError;
  count_living(1);
  const std::lock_guard lock(global().mutex);
  global().memory.insert(*data);
  return ncclSuccess;
}

ncclResult_t mem_free(void* data) {
  check_quiet("ncclMemFree");
  {
    const std::lock_guard lock(global().mutex);
    if (global().memory.erase(data) == 0) return ncclInvalidArgument;
  }
  count_living(-1);
  return cudaFree(data) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t comm_register(const ncclComm_t comm, void* data, std::size_t size, void** handle) {
  const Inside inside(comm, "ncclCommRegister", std::to_string(size));
  if (const ncclResult_t result = failure_of("ncclCommRegister", comm->rank)) return result;
  *handle = data;
  return ncclSuccess;
}

ncclResult_t comm_deregister(const ncclComm_t comm, void*) {
  const Inside inside(comm, "ncclCommDeregister");
  return ncclSuccess;
}

tandem::nccl::Api make_api() {
  tandem::nccl::Api made;
  made.get_version = get_version;
  made.get_unique_id = get_unique_id;
  made.get_error_string = get_error_string;
  made.get_last_error = get_last_error;
  made.comm_init_rank_config = comm_init_rank_config;
  made.comm_finalize = comm_finalize;
  made.comm_destroy = comm_destroy;
  made.comm_abort = comm_abort;
  made.comm_get_async_error = get_async_error;
  made.group_start = group_start;
  made.group_end = group_end;
  made.all_reduce = all_reduce;
  made.broadcast = broadcast;
  made.reduce = reduce;
  made.all_gather = all_gather;
  made.reduce_scatter = reduce_scatter;
  made.send = send;
  made.recv = recv;
  return made;
}

}  // namespace

namespace tandem::test::fake_nccl {

const nccl::Api& api_without_memory() {
  static const nccl::Api one = make_api();
  return one;
}

const nccl::Api& api() {
  static const nccl::Api one = [] {
    nccl::Api made = make_api();
    made.mem_alloc = mem_alloc;
    made.mem_free = mem_free;
    made.comm_register = comm_register;
    made.comm_deregister = comm_deregister;
    return made;
  }();
  return one;
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
  g.looks = 0;
}

void fail_next(const std::string& function, ncclResult_t result, int rank) {
  const std::lock_guard lock(global().mutex);
  global().failures[{function, rank}] = result;
}

void set_looks_in_progress(int looks) { global().looks = looks; }

void set_async_error(int rank, ncclResult_t result) {
  const std::lock_guard lock(global().mutex);
  global().async_errors[rank] = result;
}

void stick_at_start(int rank) {
  const std::lock_guard lock(global().mutex);
  global().stuck.insert(rank);
}

std::vector<std::string> violations() {
  const std::lock_guard lock(global().mutex);
  std::vector<std::string> all = global().violations;
  if (open_groups != 0) all.push_back("a group left open");
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
