// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/capture.h"

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_stream.h"

namespace tandem::cuda {

CudaGraph::CudaGraph(Gpu& gpu, DeviceId device, cudaGraph_t graph) : gpu_(gpu), device_(device) {
  const DeviceGuard here(gpu_.ordinal());
  const cudaError_t status =
      cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
  TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaGraphDestroy(graph));
  gpu_.after_wait(status, "cudaGraphInstantiate");
}

CudaGraph::~CudaGraph() {
  const DeviceGuard here(gpu_.ordinal(), std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaGraphExecDestroy(executable_));
}

void CudaGraph::replay(Stream& stream) {
  TANDEM_CHECK(stream.device() == device_, "a graph of {} on a stream of {}", to_string(device_),
               to_string(stream.device()));
  cuda_stream(stream).enqueue("cudaGraphLaunch",
                              [this](cudaStream_t on) { return cudaGraphLaunch(executable_, on); });
}

namespace {

thread_local Capture* current_capture = nullptr;

}  // namespace

Capture::Capture(cudaStream_t origin, int gpu) : origin_(origin), gpu_(gpu) {
  TANDEM_CHECK(current_capture == nullptr, "a capture within a capture, on GPU {}", gpu);
  TANDEM_CUDA(gpu, cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
  current_capture = this;
}

Capture::~Capture() {
  if (!is_open_) return;
  if (cudaGraph_t graph = end()) TANDEM_CUDA_NOTHROW(gpu_, cudaGraphDestroy(graph));
}

cudaGraph_t Capture::end() {
  current_capture = nullptr;
  is_open_ = false;
  cudaGraph_t graph = nullptr;
  ended_ = cudaStreamEndCapture(origin_, &graph);
  if (ended_ == cudaSuccess) return graph;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

std::optional<Error> Capture::trouble(const std::optional<Error>& thrown) const {
  if (spoiler_) {
    return Error(ErrorKind::kFailure,
                 fmt::format("no CUDA graph could be captured on GPU {}: {} spoiled it{}; nothing "
                             "that is captured may take or free memory or make the host wait",
                             gpu_, *spoiler_, thrown ? fmt::format(" ({})", thrown->what()) : ""));
  }
  if (thrown) return thrown;
  if (ended_ == cudaSuccess) return std::nullopt;
  return Error(ErrorKind::kFailure, fmt::format("no CUDA graph could be captured: {}",
                                                describe(ended_, "cudaStreamEndCapture", gpu_)));
}

bool Capture::is_spoiled() const noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(origin_, &status) == cudaSuccess) {
    return status == cudaStreamCaptureStatusInvalidated;
  }
  static_cast<void>(cudaGetLastError());
  return true;
}

void Capture::look_after(const char* call) noexcept {
  if (current_capture == nullptr || current_capture->spoiler_ || !current_capture->is_spoiled())
    return;
  try {
    current_capture->spoiler_ = call;
  } catch (...) {  // no memory for the name: cudaStreamEndCapture says that it was spoiled
  }
}

bool Capture::holds(cudaStream_t stream) {
  if (current_capture == nullptr) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  TANDEM_CUDA(current_capture->gpu_, cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace tandem::cuda
