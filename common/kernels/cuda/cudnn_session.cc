// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/runtime/cuda/check.h"

namespace tandem::cuda {

namespace {

// The most suggestions of each list that cuDNN is asked for. Engines without tensor cores come late
// in a list.
constexpr std::int64_t kMostSuggestions = 128;

std::vector<CudnnDescriptor> suggestions(const CudnnApi& api, const CudnnGraph& graph,
                                         cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristics(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.descriptor());
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  heuristics.finalize();
  return heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                        kMostSuggestions);
}

using Notes = std::vector<cudnnBackendNumericalNote_t>;

Notes notes_of(const CudnnApi& api, const CudnnDescriptor& configuration) {
  const auto engines =
      configuration.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty())
    throw CudnnError(api, CUDNN_STATUS_NOT_SUPPORTED, "cudnnBackendGetAttribute");
  return engines.front().get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                          CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

CudnnPlan make_plan(const CudnnApi& api, cudnnHandle_t handle, const CudnnDescriptor& configuration,
                    const Notes& notes) {
  CudnnDescriptor plan(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  plan.finalize();
  const auto size = plan.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1);
  return {std::move(plan), Bytes{size.empty() ? 0 : size.front()},
          std::ranges::count(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != 0};
}

// Whatever an engine says, another may do better; so says cuDNN of its own lists.
void try_all(const CudnnApi& api, cudnnHandle_t handle, const PlanLimits& limits,
             const std::vector<CudnnDescriptor>& configurations, PlanChoice& choice) {
  for (const CudnnDescriptor& configuration : configurations) {
    try {
      const Notes notes = notes_of(api, configuration);
      if (std::ranges::find_first_of(notes, limits.refused) != notes.end()) {
        choice.trouble = "each of its engines does to numbers what is refused";
        continue;
      }
      CudnnPlan plan = make_plan(api, handle, configuration, notes);
      if (plan.workspace.value <= limits.workspace.value) {
        choice.plan.emplace(std::move(plan));
        return;
      }
      if (choice.wanted.value == 0 || plan.workspace.value < choice.wanted.value) {
        choice.wanted = plan.workspace;
      }
      choice.trouble = fmt::format("an engine wants {} of workspace, and {} are allowed",
                                   to_string(choice.wanted), to_string(limits.workspace));
    } catch (const CudnnError& refusal) {
      choice.trouble = refusal.what();
    }
  }
}

}  // namespace

PlanChoice choose_plan(const CudnnApi& api, cudnnHandle_t handle, CudnnGraph graph,
                       const PlanLimits& limits) {
  graph.finish(handle);
  PlanChoice choice{.trouble = "it suggests no engine"};
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    try {
      try_all(api, handle, limits, suggestions(api, graph, mode), choice);
    } catch (const CudnnError& refusal) {
      choice.trouble = refusal.what();
    }
    if (choice.plan) return choice;
  }
  return choice;
}

CudnnSession::CudnnSession(Gpu& gpu, const CudnnApi& api) : gpu_(gpu), api_(api) {
  const DeviceGuard here(gpu_.ordinal());
  const cudnnStatus_t status = api_.create(&handle_);
  if (status == CUDNN_STATUS_SUCCESS) return;
  static_cast<void>(cudaGetLastError());
  const CudnnError error(api_, status, "cudnnCreate");
  fail(error.kind(), "on GPU {} ({}): {}", gpu_.ordinal(), gpu_.name(), error.what());
}

CudnnSession::~CudnnSession() {
  const DeviceGuard here(gpu_.ordinal(), std::nothrow);
  static_cast<void>(api_.destroy(handle_));
}

void CudnnSession::enqueue(cudaStream_t stream, const CudnnPlan& plan,
                           std::span<const CudnnOperand> operands, void* workspace,
                           const std::function<std::string()>& what) {
  std::vector<std::int64_t> ids;
  std::vector<void*> addresses;  // of what is read too: cuDNN has one type for both directions
  for (const CudnnOperand& operand : operands) {
    ids.push_back(operand.id);
    addresses.push_back(const_cast<void*>(operand.address));
  }
  try {
    CudnnDescriptor pack(api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, addresses);
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
    pack.finalize();
    check_cudnn(api_, api_.set_stream(handle_, stream), "cudnnSetStream");
    check_cudnn(api_, api_.execute(handle_, plan.descriptor.raw(), pack.raw()),
                "cudnnBackendExecute");
  } catch (const CudnnError& error) {
    gpu_.after_library(
        {error.kind(), fmt::format("{} on GPU {}: {}", what(), gpu_.ordinal(), error.what())});
  }
}

}  // namespace tandem::cuda
