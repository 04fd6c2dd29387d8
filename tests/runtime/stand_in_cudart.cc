// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/stand_in_cudart.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;

// One record of an event. Shared by the event, its stream and those that wait for it.
struct Record {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Clock::time_point at;

  bool is_done() {
    const std::lock_guard lock(mutex);
    return done;
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
  void complete() {
    const std::lock_guard lock(mutex);
    at = Clock::now();
    done = true;
    changed.notify_all();
  }
};

struct Machine {
  std::mutex mutex;
  int gpus = 2;  // until reset()
  int driver = 13000;
  bool peers = true;
  int capability = 90;
  cudaComputeMode compute_mode = cudaComputeModeDefault;
  std::set<std::pair<int, int>> enabled;
  std::map<int, std::size_t> used;                            // by GPU
  std::map<const void*, std::pair<int, std::size_t>> blocks;  // GPU, or -1 for pinned
  std::map<std::string, cudaError_t> failures;
  std::map<std::string, std::function<void()>> looks;
  std::map<std::string, int> calls;
  std::map<int, cudaError_t> lost;
};

constexpr std::size_t kMemory = std::size_t{1} << 30;

Machine& machine() {
  static Machine one;
  return one;
}

std::atomic<int> alive{0};
thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

cudaError_t answer(cudaError_t status) {
  if (status != cudaSuccess) last = status;
  return status;
}

// What a call returns before it does anything: a failure set for it, or that of its lost GPU.
cudaError_t enter(const char* function, int gpu = -1) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  ++m.calls[function];
  if (const auto look = m.looks.extract(function)) look.mapped()();
  if (const auto it = m.failures.find(function); it != m.failures.end()) {
    const cudaError_t status = it->second;
    m.failures.erase(it);
    return answer(status);
  }
  const auto it = m.lost.find(gpu);
  return it == m.lost.end() ? cudaSuccess : answer(it->second);
}

cudaError_t take_memory(void** data, std::size_t size, int gpu) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (gpu >= 0 && m.used[gpu] + size > kMemory) return answer(cudaErrorMemoryAllocation);
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc's
  *data = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  std::memset(*data, 0xA5, size);  // as undefined as on a GPU
  m.blocks[*data] = {gpu, size};
  if (gpu >= 0) m.used[gpu] += size;
  ++alive;
  return cudaSuccess;
}

cudaError_t give_memory(void* data) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  const auto it = m.blocks.find(data);
  if (it == m.blocks.end()) return answer(cudaErrorInvalidValue);
  if (it->second.first >= 0) m.used[it->second.first] -= it->second.second;
  m.blocks.erase(it);
  std::free(data);
  --alive;
  return cudaSuccess;
}

}  // namespace

struct CUstream_st {
  explicit CUstream_st(int gpu_of) : gpu(gpu_of), worker([this] { work(); }) { ++alive; }
  ~CUstream_st() {
    push(nullptr);
    worker.join();
    --alive;
  }
  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex);
    queue.push_back(std::move(task));
    changed.notify_all();
  }
  void work() {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return !queue.empty(); });
      const std::function<void()> task = std::move(queue.front());
      lock.unlock();
      if (!task) return;
      task();
      lock.lock();
      queue.pop_front();  // only now: what runs is not done
      changed.notify_all();
    }
  }
  void drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return queue.empty(); });
  }
  bool idle() {
    const std::lock_guard lock(mutex);
    return queue.empty();
  }

  const int gpu;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  std::thread worker;
};

struct CUevent_st {
  CUevent_st(int gpu_of, bool is_timed) : gpu(gpu_of), timed(is_timed) { ++alive; }
  ~CUevent_st() { --alive; }

  const int gpu;
  const bool timed;
  std::shared_ptr<Record> record;
};

namespace tandem::testing::stand_in {

void reset(int gpus) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.gpus = gpus;
  m.driver = 13000;
  m.peers = true;
  m.capability = 90;
  m.compute_mode = cudaComputeModeDefault;
  m.enabled.clear();
  m.failures.clear();
  m.looks.clear();
  m.calls.clear();
  m.lost.clear();
  last = cudaSuccess;
}

void set_driver_version(int version) { machine().driver = version; }
void set_peer_access(bool possible) { machine().peers = possible; }
void set_compute_capability(int capability) { machine().capability = capability; }

void set_compute_mode(cudaComputeMode mode) { machine().compute_mode = mode; }

void fail_next(const std::string& function, cudaError_t status) {
  const std::lock_guard lock(machine().mutex);
  machine().failures[function] = status;
}

void on_next(const std::string& function, std::function<void()> body) {
  const std::lock_guard lock(machine().mutex);
  machine().looks[function] = std::move(body);
}

void lose(int gpu, cudaError_t status) {
  const std::lock_guard lock(machine().mutex);
  machine().lost[gpu] = status;
}

int living() { return alive; }

int calls(const std::string& function) {
  const std::lock_guard lock(machine().mutex);
  return machine().calls[function];
}

cudaError_t last_error() { return last; }

void launch(cudaStream_t stream, std::function<void()> body) { stream->push(std::move(body)); }

cudaError_t kernel(const std::string& name, cudaStream_t stream, std::function<void()> body) {
  if (const cudaError_t status = enter(name.c_str(), stream->gpu)) return status;
  stream->push(std::move(body));
  return cudaSuccess;
}

}  // namespace tandem::testing::stand_in

extern "C" {

const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    default:
      return "cudaErrorOther";
  }
}
const char* cudaGetErrorString(cudaError_t) { return "text of the stand-in"; }
cudaError_t cudaGetLastError() { return std::exchange(last, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = machine().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = machine().gpus;
  if (const cudaError_t status = enter("cudaGetDeviceCount")) return status;
  return machine().gpus > 0 ? cudaSuccess : answer(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* gpu) {
  *gpu = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int gpu) {
  if (const cudaError_t status = enter("cudaSetDevice")) return status;
  if (gpu < 0 || gpu >= machine().gpus) return answer(cudaErrorInvalidDevice);
  current = gpu;
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int gpu, unsigned, unsigned) { return enter("cudaInitDevice", gpu); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  std::strcpy(properties->name, "Stand-in");
  properties->multiProcessorCount = 132;
  properties->pciBusID = 0x10 + gpu;
  properties->uuid.bytes[15] = static_cast<char>(gpu);
  properties->major = machine().capability / 10;
  properties->minor = machine().capability % 10;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  if (attribute != cudaDevAttrComputeMode) return answer(cudaErrorInvalidValue);
  *value = machine().compute_mode;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* total) {
  const std::lock_guard lock(machine().mutex);
  *left = kMemory - machine().used[current];
  *total = kMemory;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* possible, int, int) {
  *possible = machine().peers ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  if (const cudaError_t status = enter("cudaDeviceEnablePeerAccess")) return status;
  const bool is_new = machine().enabled.insert({current, peer}).second;
  return is_new ? cudaSuccess : answer(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaMalloc(void** data, std::size_t size) {
  if (const cudaError_t status = enter("cudaMalloc", current)) return status;
  return take_memory(data, size, current);
}
cudaError_t cudaFree(void* data) {
  const cudaError_t status = enter("cudaFree", current);
  give_memory(data);  // also where it fails, so that the count of what lives stays true
  return status;
}
cudaError_t cudaHostAlloc(void** data, std::size_t size, unsigned) {
  if (const cudaError_t status = enter("cudaHostAlloc", current)) return status;
  return take_memory(data, size, -1);
}
cudaError_t cudaFreeHost(void* data) {
  const cudaError_t status = enter("cudaFreeHost");
  give_memory(data);
  return status;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t size, cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaMemsetAsync", stream->gpu)) return status;
  stream->push([=] { std::memset(data, value, size); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaMemcpyAsync", stream->gpu)) return status;
  stream->push([=] { std::memcpy(to, from, size); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size,
                                cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaMemcpyPeerAsync", stream->gpu)) return status;
  stream->push([=] { std::memcpy(to, from, size); });
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  if (const cudaError_t status = enter("cudaStreamCreateWithPriority", current)) return status;
  *stream = new CUstream_st(current);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaStreamSynchronize", stream->gpu)) return status;
  stream->drain();
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaStreamQuery", stream->gpu)) return status;
  return stream->idle() ? cudaSuccess : answer(cudaErrorNotReady);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return enter("cudaStreamIsCapturing", stream->gpu);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const cudaError_t status = enter("cudaLaunchHostFunc", stream->gpu)) return status;
  stream->push([=] { function(data); });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t status = enter("cudaStreamWaitEvent", stream->gpu)) return status;
  if (event->record) stream->push([record = event->record] { record->wait(); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t status = enter("cudaEventCreateWithFlags", current)) return status;
  *event = new CUevent_st(current, (flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t status = enter("cudaEventRecord", stream->gpu)) return status;
  if (event->gpu != stream->gpu) return answer(cudaErrorInvalidResourceHandle);
  event->record = std::make_shared<Record>();
  stream->push([record = event->record] { record->complete(); });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t status = enter("cudaEventQuery", event->gpu)) return status;
  const bool done = !event->record || event->record->is_done();
  return done ? cudaSuccess : answer(cudaErrorNotReady);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (const cudaError_t status = enter("cudaEventElapsedTime", end->gpu)) return status;
  const bool sound = start->timed && end->timed && start->record && end->record;
  if (!sound) return answer(cudaErrorInvalidResourceHandle);
  if (!start->record->is_done() || !end->record->is_done()) return answer(cudaErrorNotReady);
  using Milliseconds = std::chrono::duration<float, std::milli>;
  *milliseconds = Milliseconds(end->record->at - start->record->at).count();
  return cudaSuccess;
}

}  // extern "C"
