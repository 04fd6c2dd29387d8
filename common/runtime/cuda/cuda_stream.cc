// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_stream.h"

#include <cuda_profiler_api.h>

#include <cstdint>
#include <thread>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_event.h"
#include "common/runtime/cuda_module.h"

namespace tandem::cuda {
namespace {

std::size_t length_of(Bytes size) { return static_cast<std::size_t>(size.value); }

// The time travels as the pointer itself: work that a lost GPU drops has then nothing to free.
static_assert(sizeof(void*) == sizeof(Nanoseconds::rep));

void* packed(Nanoseconds duration) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(duration.count()));
}

// These run on a thread of CUDA's, between the stream's work before and after it. CUDA may run the
// functions of all streams on one thread: a sleep then holds up those whose time comes earlier.
void CUDART_CB sleep_to(void* time) {
  const auto count = static_cast<Nanoseconds::rep>(reinterpret_cast<std::uintptr_t>(time));
  std::this_thread::sleep_until(TimePoint(Nanoseconds(count)));
}

void CUDART_CB sleep_for(void* duration) {
  const auto count = static_cast<Nanoseconds::rep>(reinterpret_cast<std::uintptr_t>(duration));
  std::this_thread::sleep_for(Nanoseconds(count));
}

}  // namespace

CudaStream::CudaStream(const DeviceMap& map, DeviceId device, StreamPriority priority)
    : map_(map),
      device_(device),
      gpu_(map.gpu_of(device)),
      stream_(map.gpu_of(device).ordinal(), priority) {}

void CudaStream::record(Event& event) {
  CudaEvent& target = cuda_event(event);
  TANDEM_CHECK(target.device() == device_, "an event of {} recorded on a stream of {}",
               to_string(target.device()), to_string(device_));
  enqueue("cudaEventRecord", [&](cudaStream_t on) { return cudaEventRecord(target.get(), on); });
  target.set_recorded();
}

// CUDA takes the record that is current now; a later one does not move this wait.
void CudaStream::wait(const Event& event) {
  const CudaEvent& source = cuda_event(event);
  if (!source.recorded()) return;
  enqueue("cudaStreamWaitEvent", [&](cudaStream_t on) {
    return cudaStreamWaitEvent(on, source.get(), cudaEventWaitDefault);
  });
}

void CudaStream::sleep(cudaHostFn_t how, Nanoseconds time) {
  enqueue("cudaLaunchHostFunc",
          [&](cudaStream_t on) { return cudaLaunchHostFunc(on, how, packed(time)); });
}

void CudaStream::start_after(TimePoint time) { sleep(sleep_to, time.time_since_epoch()); }

void CudaStream::delay(Nanoseconds duration) { sleep(sleep_for, duration); }

void CudaStream::synchronize() {
  gpu_.throw_if_failed();
  const DeviceGuard here(gpu_.ordinal());
  gpu_.after_wait(cudaStreamSynchronize(get()), "cudaStreamSynchronize");
}

bool CudaStream::is_done() {
  gpu_.throw_if_failed();
  const DeviceGuard here(gpu_.ordinal());
  return gpu_.is_done(cudaStreamQuery(get()), "cudaStreamQuery");
}

void CudaStream::copy_bytes(ByteSpan destination, ConstByteSpan source) {
  const std::size_t count = length_of(destination.size_bytes());
  const bool host_side = destination.device().is_host_memory() || source.device().is_host_memory();
  const int to = host_side ? 0 : map_.gpu_of(destination.device()).ordinal();
  const int from = host_side ? 0 : map_.gpu_of(source.device()).ordinal();
  if (host_side || to == from) {
    return enqueue("cudaMemcpyAsync", [&](cudaStream_t on) {
      return cudaMemcpyAsync(destination.data(), source.data(), count, cudaMemcpyDefault, on);
    });
  }
  enqueue("cudaMemcpyPeerAsync", [&](cudaStream_t on) {
    return cudaMemcpyPeerAsync(destination.data(), to, source.data(), from, count, on);
  });
}

void CudaStream::zero_bytes(ByteSpan destination) {
  enqueue("cudaMemsetAsync", [&](cudaStream_t on) {
    return cudaMemsetAsync(destination.data(), 0, length_of(destination.size_bytes()), on);
  });
}

CudaStream& cuda_stream(Stream& stream) {
  TANDEM_CHECK(stream.device().backend == Backend::kCuda, "a CUDA operation on a stream of {}",
               to_string(stream.device()));
  return static_cast<CudaStream&>(stream);
}

namespace {

void check_profiler(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  fail(ErrorKind::kFailure, "telling a profiler: {}: {} ({})", call, cudaGetErrorName(status),
       cudaGetErrorString(status));
}

constexpr CudaProfiling kProfiling{
    .start = [] { check_profiler(cudaProfilerStart(), "cudaProfilerStart()"); },
    .stop = [] { check_profiler(cudaProfilerStop(), "cudaProfilerStop()"); },
    .native_stream = [](Stream& stream) -> void* { return cuda_stream(stream).get(); },
    .gpu = [](Stream& stream) { return cuda_stream(stream).gpu().ordinal(); }};

}  // namespace
}  // namespace tandem::cuda

extern "C" __attribute__((visibility("default"))) const tandem::CudaProfiling*
tandem_cuda_profiling_module() {
  return &tandem::cuda::kProfiling;
}
