// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/kernels/cuda/cudnn_graph.h"
#include "common/runtime/cuda/gpu.h"

namespace tandem::cuda {

// Properties that exclude an engine from a plan.
struct PlanLimits {
  std::vector<cudnnBackendNumericalNote_t> refused;  // what it does to numbers
  Bytes workspace;                                   // the most that it may need
};

// An engine and its settings, ready to run a graph on any operands of the graph's alignments.
struct CudnnPlan {
  CudnnDescriptor descriptor;
  Bytes workspace;
  bool tensor_cores;  // by the engine's note, which on fp32 operands means tf32
};

// A plan, or none and what was in the way of the last engine.
struct PlanChoice {
  std::optional<CudnnPlan> plan{};
  std::string trouble{};
  Bytes wanted{};  // the least workspace that was too much; 0 where none was
};

// Ends the graph, asks cuDNN's heuristics for engines, best first, after them for its list of those
// to fall back on, and takes the first that keeps to the limits and has a plan. Nothing is timed,
// so that all ranks choose alike. Allocates on the host, and compiles where that is how the engine
// works; call it before work is in flight that others wait for. CudnnError: the graph is refused.
[[nodiscard]] PlanChoice choose_plan(const CudnnApi& api, cudnnHandle_t handle, CudnnGraph graph,
                                     const PlanLimits& limits);

// A tensor of the graph by its id, and where it lies: on the device, or for Place::kByValue on the
// host.
struct CudnnOperand {
  std::int64_t id;
  const void* address;
};

// cuDNN on one GPU: the library's handle, and what its errors come to. Used from one thread at a
// time.
class CudnnSession : boost::noncopyable {
 public:
  // A failure where the library cannot start on this GPU. `api` outlives the session.
  CudnnSession(Gpu& gpu, const CudnnApi& api);
  // Gives back resources of its GPU, which it waits for.
  ~CudnnSession();

  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

  // Enqueues a plan on `stream`, of this GPU, which is current. `workspace` is as large as the plan
  // says. An error that loses the GPU is kept for the stream's next wait, any other is a failure
  // that names what() is done.
  void enqueue(cudaStream_t stream, const CudnnPlan& plan, std::span<const CudnnOperand> operands,
               void* workspace, const std::function<std::string()>& what);

 private:
  Gpu& gpu_;
  const CudnnApi& api_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace tandem::cuda
