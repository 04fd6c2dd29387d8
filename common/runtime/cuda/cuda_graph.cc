// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_graph.h"

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda/device_guard.h"

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

}  // namespace tandem::cuda
