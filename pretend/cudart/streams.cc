// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of the pretended runtime. Whatever is enqueued is done at once.
#include <cstdint>

#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

constexpr unsigned kEventDisableTiming = 2;  // cudaEventDisableTiming

const Stream* made_stream(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle) <= 2 ? nullptr : static_cast<const Stream*>(handle);
}

abi::CudaError make(void** stream, unsigned flags, int priority) {
  *stream = make_stream(flags, priority);
  return abi::kCudaSuccess;
}

abi::CudaError record(const char* call, Event* event, const void* stream) {
  log::Entry entry(call, RecordKind::kEvent);
  const Target target = target_of(stream);
  entry.at(target.device, target.stream);
  entry.set(event->number);
  event->recorded.store(event->timed ? log::now() : 1, std::memory_order_relaxed);
  return abi::kCudaSuccess;
}

abi::CudaError sync(const char* call, const void* stream) {
  log::Entry entry(call, RecordKind::kSync);
  const Target target = target_of(stream);
  entry.at(target.device, target.stream);
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

abi::CudaError cudaStreamDestroy(void* stream) {
  delete made_stream(stream);
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetPriority(void* stream, int* priority) {
  *priority = made_stream(stream) == nullptr ? 0 : made_stream(stream)->priority;
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetFlags(void* stream, unsigned* flags) {
  *flags = made_stream(stream) == nullptr ? 0 : made_stream(stream)->flags;
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetDevice(void* stream, int* device) {
  *device = target_of(stream).device;
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetId(void* stream, uint64_t* number) {
  *number = target_of(stream).stream;
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamQuery(void*) { return abi::kCudaSuccess; }

abi::CudaError cudaStreamSynchronize(void* stream) { return sync("cudaStreamSynchronize", stream); }

abi::CudaError cudaStreamWaitEvent(void* stream, Event* event, unsigned) {
  log::Entry entry("cudaStreamWaitEvent", RecordKind::kWait);
  const Target target = target_of(stream);
  entry.at(target.device, target.stream);
  entry.set(event->number);
  return abi::kCudaSuccess;
}

// No stream is ever captured: what stands behind the status is left as it is.
abi::CudaError cudaStreamIsCapturing(void*, int* status) {
  *status = 0;
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetCaptureInfo(void*, int* status, uint64_t* number) {
  *status = 0;
  if (number != nullptr) {
    *number = 0;
  }
  return abi::kCudaSuccess;
}

abi::CudaError cudaStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* number) {
  return cudaStreamGetCaptureInfo(stream, status, number);
}

abi::CudaError cudaStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* number) {
  return cudaStreamGetCaptureInfo(stream, status, number);
}

abi::CudaError cudaThreadExchangeStreamCaptureMode(int*) { return abi::kCudaSuccess; }

abi::CudaError cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  const abi::CudaError error = sync("cudaLaunchHostFunc", stream);
  function(data);
  return error;
}

abi::CudaError cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data,
                                     unsigned) {
  const abi::CudaError error = sync("cudaStreamAddCallback", stream);
  function(stream, error, data);
  return error;
}

abi::CudaError cudaEventCreateWithFlags(void** event, unsigned flags) {
  *event = make_event((flags & kEventDisableTiming) == 0);
  return abi::kCudaSuccess;
}

abi::CudaError cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }

abi::CudaError cudaEventDestroy(Event* event) {
  delete event;
  return abi::kCudaSuccess;
}

abi::CudaError cudaEventRecord(Event* event, void* stream) {
  return record("cudaEventRecord", event, stream);
}

abi::CudaError cudaEventRecordWithFlags(Event* event, void* stream, unsigned) {
  return record("cudaEventRecordWithFlags", event, stream);
}

abi::CudaError cudaEventQuery(Event*) { return abi::kCudaSuccess; }

abi::CudaError cudaEventSynchronize(Event* event) {
  log::Entry entry("cudaEventSynchronize", RecordKind::kSync);
  entry.at(current_device(), 0);
  entry.set(event->number);
  settle_if_needed();
  return abi::kCudaSuccess;
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
