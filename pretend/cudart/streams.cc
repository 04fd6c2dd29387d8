// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of the pretended runtime. Whatever is enqueued is done at once.
#include <cstdint>

#include "pretend/core/capture.h"
#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

constexpr unsigned kEventDisableTiming = 2;  // cudaEventDisableTiming
constexpr unsigned kExternal = 1;            // cudaEventRecordExternal, cudaEventWaitExternal

const Stream* made_stream(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle) <= 2 ? nullptr : static_cast<const Stream*>(handle);
}

abi::CudaError make(void** stream, unsigned flags, int priority) {
  return put(stream, make_stream(flags, priority));
}

abi::CudaError record(const char* call, Event* event, const void* stream) {
  log::Entry entry(call, RecordKind::kEvent);
  const Target target = entry.at(target_of(stream));
  entry.set(event->number);
  event->recorded.store(event->timed ? log::now() : 1, std::memory_order_relaxed);
  if (check::on) check::record(event, target);
  return abi::kCudaSuccess;
}

abi::CudaError wait(Event* event, const void* stream) {
  log::Entry entry("cudaStreamWaitEvent", RecordKind::kWait);
  const Target target = entry.at(target_of(stream));
  entry.set(event->number);
  if (check::on) check::let_wait(target, event);
  return abi::kCudaSuccess;
}

// An external event of a graph is recorded and waited for when the graph is launched.
abi::CudaError record_or_capture(const char* call, Event* event, const void* stream,
                                 bool is_external) {
  if (capture::is_any()) {
    if (is_external && capture::keep(stream, capture::NodeType::kEvent,
                                     [=](const void* on) { record(call, event, on); })) {
      return abi::kCudaSuccess;
    }
    const capture::Answer answer = capture::record(call, event, stream);
    if (answer.done) return with_last_error(answer.error);
  }
  return record(call, event, stream);
}

abi::CudaError sync(const char* call, const void* stream) {
  if (capture::is_any()) {
    const abi::CudaError error = capture::check_wait_for_stream(stream);
    if (error != abi::kCudaSuccess) return with_last_error(error);
  }
  log::Entry entry(call, RecordKind::kSync);
  const Target target = entry.at(target_of(stream));
  if (check::on) check::wait_for_stream(target);
  settle_if_needed();
  return abi::kCudaSuccess;
}

}  // namespace

extern "C" {

abi::CudaError cudaStreamCreate(void** stream) { return make(stream, 0, 0); }

abi::CudaError cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return make(stream, flags, 0);
}

abi::CudaError cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return make(stream, flags, priority);
}

abi::CudaError cudaStreamDestroy(void* stream) { return destroy(made_stream(stream)); }

abi::CudaError cudaStreamGetPriority(void* stream, int* priority) {
  return put(priority, made_stream(stream) == nullptr ? 0 : made_stream(stream)->priority);
}

abi::CudaError cudaStreamGetFlags(void* stream, unsigned* flags) {
  return put(flags, made_stream(stream) == nullptr ? 0 : made_stream(stream)->flags);
}

abi::CudaError cudaStreamGetDevice(void* stream, int* device) {
  return put(device, target_of(stream).device);
}

abi::CudaError cudaStreamGetId(void* stream, uint64_t* number) {
  return put(number, target_of(stream).stream);
}

abi::CudaError cudaStreamQuery(void* stream) {
  if (check::on && !check::is_complete(target_of(stream))) return abi::kCudaNotReady;
  return with_last_error(capture::is_any() ? capture::check_wait_for_stream(stream)
                                           : abi::kCudaSuccess);
}

abi::CudaError cudaStreamSynchronize(void* stream) { return sync("cudaStreamSynchronize", stream); }

abi::CudaError cudaStreamWaitEvent(void* stream, Event* event, unsigned flags) {
  if (capture::is_any()) {
    if ((flags & kExternal) != 0 &&
        capture::keep(stream, capture::NodeType::kWait, [=](const void* on) { wait(event, on); })) {
      return abi::kCudaSuccess;
    }
    const capture::Answer answer = capture::wait("cudaStreamWaitEvent", event, stream);
    if (answer.done) return with_last_error(answer.error);
  }
  return wait(event, stream);
}

abi::CudaError cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  if (capture::takes(stream, capture::NodeType::kHostFunction,
                     [=](const void*) { function(data); })) {
    return abi::kCudaSuccess;
  }
  const abi::CudaError error = sync("cudaLaunchHostFunc", stream);
  function(data);
  return error;
}

abi::CudaError cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data,
                                     unsigned) {
  const abi::CudaError error = sync("cudaStreamAddCallback", stream);
  if (error == abi::kCudaSuccess) function(stream, error, data);
  return error;
}

abi::CudaError cudaEventCreateWithFlags(void** event, unsigned flags) {
  return put(event, make_event((flags & kEventDisableTiming) == 0));
}

abi::CudaError cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }

abi::CudaError cudaEventDestroy(Event* event) {
  if (capture::is_any()) capture::forget(event);
  if (check::on) check::forget(event);
  delete event;
  return abi::kCudaSuccess;
}

abi::CudaError cudaEventRecord(Event* event, void* stream) {
  return record_or_capture("cudaEventRecord", event, stream, false);
}

abi::CudaError cudaEventRecordWithFlags(Event* event, void* stream, unsigned flags) {
  return record_or_capture("cudaEventRecordWithFlags", event, stream, (flags & kExternal) != 0);
}

abi::CudaError cudaEventQuery(Event* event) {
  if (check::on && !check::is_complete(event)) return abi::kCudaNotReady;
  if (!capture::is_any()) return abi::kCudaSuccess;
  const abi::CudaError error = capture::check_event(event);
  return with_last_error(error == abi::kCudaSuccess ? capture::check_unsafe() : error);
}

abi::CudaError cudaEventSynchronize(Event* event) {
  if (capture::is_any()) {
    const abi::CudaError error = capture::check_event(event);
    if (error != abi::kCudaSuccess) return with_last_error(error);
  }
  log::Entry entry("cudaEventSynchronize", RecordKind::kSync);
  entry.at(current_device(), 0);
  entry.set(event->number);
  if (check::on) check::wait_for_event(event);
  settle_if_needed();
  return abi::kCudaSuccess;
}

// All work of another process is done, too: an event that is opened holds nothing of the other.
abi::CudaError cudaIpcGetEventHandle(abi::IpcHandle* handle, Event*) {
  *handle = {};
  return abi::kCudaSuccess;
}

abi::CudaError cudaIpcOpenEventHandle(void** event, abi::IpcHandle) {
  return cudaEventCreateWithFlags(event, kEventDisableTiming);
}

// The host's time between the two records: nothing else passes on a pretended GPU.
abi::CudaError cudaEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  if (!from->timed || !to->timed || from->recorded == 0 || to->recorded == 0) {
    return with_last_error(abi::kCudaInvalidResourceHandle);
  }
  *milliseconds = static_cast<float>(to->recorded - from->recorded) * 1e-6F;
  return abi::kCudaSuccess;
}

abi::CudaError cudaEventElapsedTime_v2(float* milliseconds, Event* from, Event* to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
}
