// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/stand_in_cudnn.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "common/kernels/cuda/cudnn_graph.h"
#include "tests/kernels/stand_in_cudnn_contents.h"
#include "tests/kernels/stand_in_cudnn_graph.h"
#include "tests/runtime/stand_in_cudart.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

namespace stand_in = tandem::test::stand_in;
using stand_in::Contents;

// What a descriptor is to the caller.
struct Descriptor {
  std::shared_ptr<Contents> contents;
};

Descriptor& as(cudnnBackendDescriptor_t descriptor) {
  return *static_cast<Descriptor*>(descriptor);
}

// The error text of the thread's last call.
thread_local const char* last_words = "";

cudnnStatus_t refuse(cudnnStatus_t status, const char* words) {
  last_words = words;
  return status;
}

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

cudnnStatus_t enter_cudnn(std::string_view function) {
  last_words = "";
  stand_in::Cudnn& state = stand_in::cudnn();
  if (state.failing != function) return CUDNN_STATUS_SUCCESS;
  state.failing.clear();
  return refuse(state.failure, "text of the stand-in");
}

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
      return 8;
    default:  // enumerations and float
      return 4;
  }
}

std::size_t version() { return stand_in::cudnn().version; }
const char* error_string(cudnnStatus_t status) {
  return status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
                                                 : "CUDNN_STATUS_OTHER";
}
void last_error(char* message, std::size_t size) {
  const std::size_t count = std::min(size - 1, std::strlen(last_words));
  std::memcpy(message, last_words, count);
  message[count] = '\0';
}

cudnnStatus_t create(cudnnHandle_t* handle) {
  const std::lock_guard lock(mutex());
  if (const cudnnStatus_t status = enter_cudnn("cudnnCreate")) return status;
  *handle = new cudnnContext;
  ++stand_in::cudnn().handles;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy(cudnnHandle_t handle) {
  const std::lock_guard lock(mutex());
  delete handle;
  --stand_in::cudnn().handles;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_stream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t create_descriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* to) {
  const std::lock_guard lock(mutex());
  *to = new Descriptor{std::make_shared<Contents>(Contents{.type = type})};
  ++stand_in::cudnn().descriptors;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy_descriptor(cudnnBackendDescriptor_t descriptor) {
  const std::lock_guard lock(mutex());
  delete &as(descriptor);
  --stand_in::cudnn().descriptors;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t count,
                            const void* values) {
  Contents& own = *as(descriptor).contents;
  if (own.finalized) return refuse(CUDNN_STATUS_BAD_PARAM, "set after it was finalised");
  Contents::Attribute attribute{.type = type};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* const others = static_cast<const cudnnBackendDescriptor_t*>(values);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::shared_ptr<Contents>& other = as(others[i]).contents;
      if (!other->finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "of another");
      attribute.others.push_back(other);
    }
  } else {
    const auto* const bytes = static_cast<const std::byte*>(values);
    attribute.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * size_of(type));
  }
  own.attributes.insert_or_assign(name, std::move(attribute));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  const std::lock_guard lock(mutex());
  if (const cudnnStatus_t status = enter_cudnn("cudnnBackendFinalize")) return status;
  const stand_in::Finish finish = stand_in::finish(*as(descriptor).contents);
  return finish.status == CUDNN_STATUS_SUCCESS ? finish.status
                                               : refuse(finish.status, finish.words);
}

// The engines that are suggested for a graph, as configurations.
std::vector<std::shared_ptr<Contents>> suggestions(const Contents& heuristics) {
  stand_in::Cudnn& state = stand_in::cudnn();
  ++state.searches;
  const Contents& graph = *heuristics.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  if (stand_in::is_graph_of_steps(graph)) {
    if (state.refuses_graphs) return {};
  } else if (!stand_in::is_of_one_type(stand_in::convolution_in(graph))) {
    return {};
  }
  const auto mode = heuristics.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  std::vector<std::shared_ptr<Contents>> all;
  for (const stand_in::CudnnEngine& engine :
       mode == CUDNN_HEUR_MODE_FALLBACK ? state.fallbacks : state.engines) {
    Contents::Attribute of_graph{.type = CUDNN_TYPE_BACKEND_DESCRIPTOR};
    of_graph.others = heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).others;
    all.push_back(std::make_shared<Contents>(
        Contents{.type = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                 .attributes = {{CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of_graph}},
                 .finalized = true,
                 .engine = engine}));
    if (engine.samples > 0 && stand_in::samples_in(graph) > engine.samples) {
      all.back()->engine.workspace = tandem::gib(4).value;
    }
  }
  return all;
}

template <class Value>
cudnnStatus_t give(const std::vector<Value>& values, std::int64_t most, std::int64_t* count,
                   void* to) {
  *count = static_cast<std::int64_t>(values.size());
  std::copy_n(values.begin(), std::min(most, *count), static_cast<Value*>(to));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_attribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t /*type*/, std::int64_t most,
                            std::int64_t* count, void* values) {
  const std::lock_guard lock(mutex());
  const std::shared_ptr<Contents>& own = as(descriptor).contents;
  if (!own->finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "asked");
  auto* const others = static_cast<cudnnBackendDescriptor_t*>(values);
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      const auto all = suggestions(*own);
      *count = static_cast<std::int64_t>(all.size());
      for (std::int64_t i = 0; i < std::min(most, *count); ++i) {
        as(others[i]).contents = all[static_cast<std::size_t>(i)];
      }
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      *count = 1;
      as(others[0]).contents = own;  // which knows the engine
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return give(own->engine.notes, most, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return give(std::vector<std::int64_t>{own->engine.workspace}, most, count, values);
    default:
      return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the stand-in does not report that");
  }
}

// The place in the pack of a tensor's address, where it is there and aligned as was promised.
std::byte* address_of(const Contents& tensor, const Contents& pack) {
  const auto ids = pack.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto addresses = pack.all<std::byte*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto found = std::ranges::find(ids, tensor.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID));
  if (found == ids.end() || addresses.size() != ids.size()) return nullptr;
  std::byte* const address = addresses[static_cast<std::size_t>(found - ids.begin())];
  if (tensor.one<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0) return address;
  const auto alignment = tensor.one<std::uint64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0 ? address : nullptr;
}

bool may_use_tensor_cores(const stand_in::CudnnEngine& engine) {
  return std::ranges::count(engine.notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != 0;
}

cudnnStatus_t launch(cudnnHandle_t handle, const stand_in::CudnnEngine& engine,
                     const std::function<void()>& work) {
  ++stand_in::cudnn().executions;
  stand_in::cudnn().last_engine = engine;
  const cudaError_t launched = stand_in::kernel("cudnnBackendExecute", handle->stream, work);
  return launched == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t execute_steps(cudnnHandle_t handle, const Contents& chosen, const Contents& graph,
                            const Contents& operands) {
  auto steps = stand_in::steps_of(
      graph, [&](const Contents& tensor) { return address_of(tensor, operands); });
  if (!steps) return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "an operand");
  return launch(handle, chosen.engine, [all = std::move(*steps)] {
    for (const stand_in::GraphStep& step : all) step.run();
  });
}

cudnnStatus_t execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                      cudnnBackendDescriptor_t pack) {
  const std::lock_guard lock(mutex());
  if (const cudnnStatus_t status = enter_cudnn("cudnnBackendExecute")) return status;
  const Contents& chosen = *as(plan).contents;
  const Contents& operands = *as(pack).contents;
  if (!chosen.finalized || !operands.finalized) {
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "executed");
  }
  if (chosen.engine.workspace > 0 &&
      operands.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE) == nullptr) {
    return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no workspace");
  }
  if (stand_in::only_counts()) return launch(handle, chosen.engine, [] {});
  const Contents& configuration = *chosen.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Contents& graph = *configuration.other(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  if (stand_in::is_graph_of_steps(graph)) return execute_steps(handle, chosen, graph, operands);
  auto [convolution, tensors] = stand_in::convolution_in(graph);
  convolution.tf32 = may_use_tensor_cores(chosen.engine);
  stand_in::StridedTensor* const places[] = {&convolution.image, &convolution.filter,
                                             &convolution.result};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    places[i]->data = address_of(*tensors[i], operands);
    if (places[i]->data == nullptr) {
      return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "an operand");
    }
  }
  return launch(handle, chosen.engine, [all = convolution] { all.run(); });
}

const tandem::cuda::CudnnApi& api() {
  static const tandem::cuda::CudnnApi one{
      &version,  &error_string,  &last_error,        &create,
      &destroy,  &set_stream,    &create_descriptor, &destroy_descriptor,
      &finalize, &set_attribute, &get_attribute,     &execute};
  return one;
}

}  // namespace

namespace tandem::test::stand_in {

Cudnn& cudnn() {
  static Cudnn one = [] {
    const char* const variable = std::getenv("TANDEM_STAND_IN_CUDNN");
    const std::string_view wanted = variable == nullptr ? "" : variable;
    Cudnn made{.trouble = wanted == "absent" ? "the stand-in is set to be absent" : ""};
    if (wanted == "without-tf32") made.engines = {{}};
    return made;
  }();
  return one;
}

}  // namespace tandem::test::stand_in

namespace tandem::cuda {

const LoadedCudnn& load_cudnn() {
  static const LoadedCudnn loaded{&api(), "", "9.19.0"};
  static LoadedCudnn absent;
  const std::lock_guard lock(mutex());
  const std::string& trouble = stand_in::cudnn().trouble;
  if (trouble.empty()) return loaded;
  absent.trouble = trouble;
  return absent;
}

}  // namespace tandem::cuda
