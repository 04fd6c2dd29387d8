// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/runtime/stand_in_machine.h"
#include "tests/runtime/stand_in_tracing.h"

using namespace tandem::test::stand_in;  // NOLINT(google-build-using-namespace): one program

namespace {

using Clock = Record::Clock;

thread_local int current = 0;
thread_local cudaError_t latest_error = cudaSuccess;
std::mutex records_mutex;  // of all events' records

cudaError_t take_memory(void** data, std::size_t size, int gpu) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  if (gpu >= 0 && m.used[gpu] + size > m.memory) return answer(cudaErrorMemoryAllocation);
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc's
  if (m.only_counts) {
    const std::size_t taken = (size + kAlignment - 1) / kAlignment * kAlignment;
    *data = reinterpret_cast<void*>(std::exchange(m.unbacked, m.unbacked + taken));
    m.blocks[*data] = {gpu, 0};
    ++alive();
    return cudaSuccess;
  }
  *data = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  std::memset(*data, 0xA5, size);  // as undefined as on a GPU
  m.blocks[*data] = {gpu, size};
  if (gpu >= 0) m.used[gpu] += size;
  ++alive();
  return cudaSuccess;
}

cudaError_t give_memory(void* data) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  const auto it = m.blocks.find(data);
  if (it == m.blocks.end()) return answer(cudaErrorInvalidValue);
  if (it->second.first >= 0) m.used[it->second.first] -= it->second.second;
  m.blocks.erase(it);
  if (!m.only_counts) std::free(data);
  --alive();
  return cudaSuccess;
}

}  // namespace

CUstream_st::CUstream_st(int gpu_of) : gpu(gpu_of), worker([this] { work(); }) { ++alive(); }

CUstream_st::~CUstream_st() {
  push(nullptr);
  worker.join();
  --alive();
}

void CUstream_st::push(std::function<void()> task) {
  const std::lock_guard lock(mutex);
  queue.push_back(std::move(task));
  changed.notify_all();
}

void CUstream_st::work() {
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

void CUstream_st::drain() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return queue.empty(); });
}

bool CUstream_st::idle() {
  const std::lock_guard lock(mutex);
  return queue.empty();
}

namespace tandem::test::stand_in {

Machine& machine() {
  static Machine one;
  return one;
}

std::atomic<int>& alive() {
  static std::atomic<int> count{0};
  return count;
}

cudaError_t answer(cudaError_t status) {
  if (status != cudaSuccess) latest_error = status;
  return status;
}

cudaError_t enter(const char* function, int gpu) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  ++m.calls[function];
  if (const auto look = m.looks.extract(function)) look.mapped()();
  if (const auto it = m.watches.find(function); it != m.watches.end()) it->second();
  if (const auto it = m.failures.find(function); it != m.failures.end()) {
    const cudaError_t status = it->second;
    m.failures.erase(it);
    return answer(status);
  }
  const auto it = m.lost.find(gpu);
  return it == m.lost.end() ? cudaSuccess : answer(it->second);
}

void reset(int gpus) {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  m.gpus = gpus;
  m.memory = std::size_t{1} << 30;
  m.only_counts = false;
  m.driver = 13000;
  m.peers = true;
  m.capability = 90;
  m.compute_mode = cudaComputeModeDefault;
  m.schedules.clear();
  m.enabled.clear();
  m.failures.clear();
  m.looks.clear();
  m.watches.clear();
  m.calls.clear();
  m.lost.clear();
  m.loaded.clear();
  latest_error = cudaSuccess;
}

void only_count() {
  machine().only_counts = true;
  machine().memory = std::size_t{1} << 40;
}

bool only_counts() { return machine().only_counts; }

void set_driver_version(int version) { machine().driver = version; }
void set_peer_access(bool possible) { machine().peers = possible; }
void set_compute_capability(int capability) { machine().capability = capability; }

unsigned schedule_of(int gpu) { return machine().schedules.at(gpu); }
void set_compute_mode(cudaComputeMode mode) { machine().compute_mode = mode; }

void fail_next(const std::string& function, cudaError_t status) {
  const std::lock_guard lock(machine().mutex);
  machine().failures[function] = status;
}

void on_next(const std::string& function, std::function<void()> body) {
  const std::lock_guard lock(machine().mutex);
  machine().looks[function] = std::move(body);
}

void on_each(const std::string& function, std::function<void()> body) {
  const std::lock_guard lock(machine().mutex);
  machine().watches[function] = std::move(body);
}

void lose(int gpu, cudaError_t status) {
  const std::lock_guard lock(machine().mutex);
  machine().lost[gpu] = status;
}

int living() { return alive(); }

int calls(const std::string& function) {
  const std::lock_guard lock(machine().mutex);
  return machine().calls[function];
}

cudaError_t last_error() { return latest_error; }

std::vector<const void*> loaded_kernels(int gpu) {
  const std::lock_guard lock(machine().mutex);
  return machine().loaded[gpu];
}

void launch(cudaStream_t stream, std::function<void()> body) { stream->push(std::move(body)); }

int launches() { return machine().launches; }

cudaError_t give(const char* function, cudaStream_t stream, std::function<void()> body) {
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);  // the legacy stream
  if (const cudaError_t status = enter(function, stream->gpu)) return status;
  stream->push(told_to_cupti(function, stream, std::move(body)));
  return cudaSuccess;
}

cudaError_t kernel(const std::string& name, cudaStream_t stream, std::function<void()> body) {
  ++machine().launches;
  return give(name.c_str(), stream, machine().only_counts ? [] {} : std::move(body));
}

}  // namespace tandem::test::stand_in

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
cudaError_t cudaGetLastError() { return std::exchange(latest_error, cudaSuccess); }

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
cudaError_t cudaProfilerStart() { return enter("cudaProfilerStart"); }
cudaError_t cudaProfilerStop() { return enter("cudaProfilerStop"); }
cudaError_t cudaInitDevice(int gpu, unsigned schedule, unsigned) {
  {
    const std::lock_guard lock(machine().mutex);
    machine().schedules[gpu] = schedule;
  }
  return enter("cudaInitDevice", gpu);
}
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
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void* function) {
  if (const cudaError_t status = enter("cudaFuncGetAttributes", current)) return status;
  const std::lock_guard lock(machine().mutex);
  machine().loaded[current].push_back(function);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* total) {
  const std::lock_guard lock(machine().mutex);
  *left = machine().memory - machine().used[current];
  *total = machine().memory;
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
  return kernel("cudaMemsetAsync", stream, [=] { std::memset(data, value, size); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind,
                            cudaStream_t stream) {
  return give("cudaMemcpyAsync", stream, [=] { std::memcpy(to, from, size); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size,
                                cudaStream_t stream) {
  return give("cudaMemcpyPeerAsync", stream, [=] { std::memcpy(to, from, size); });
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
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return give("cudaLaunchHostFunc", stream, [=] { function(data); });
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
  if (event->gpu != stream->gpu) return answer(cudaErrorInvalidResourceHandle);
  const auto record = std::make_shared<Record>();
  const cudaError_t status = give("cudaEventRecord", stream, [record] { record->complete(); });
  const std::lock_guard lock(records_mutex);
  if (status == cudaSuccess) event->record = record;
  return status;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t status = enter("cudaStreamWaitEvent", stream->gpu)) return status;
  const std::lock_guard lock(records_mutex);
  if (event->record) stream->push([record = event->record] { record->wait(); });
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
