// SPDX-License-Identifier: Apache-2.0
//
// Captured streams and graphs of the pretended runtime: a graph is a list of calls, which its
// launch makes again. A graph that is built node by node has no calls; conditions are refused.
#include <algorithm>
#include <boost/noncopyable.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "pretend/core/capture.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;
using capture::Graph;
using capture::Node;
using capture::UserObject;

namespace {

constexpr int kCudaMajor = TANDEM_PRETEND_CUDA;  // 12 or 13, by the build
constexpr unsigned kMoveReferences = 1;          // cudaGraphUserObjectMove
constexpr unsigned kReplace = 1;                 // cudaStreamSetCaptureDependencies

// What was instantiated of a graph. The first branch runs on the stream of the launch.
struct Instance : private boost::noncopyable {
  explicit Instance(Graph* of) : graph(of) { graph->owners.fetch_add(1); }
  ~Instance() {
    for (Stream* const stream : streams) delete stream;
    release(graph);
  }

  Graph* graph;
  std::vector<Stream*> streams{};
};

// What a cudaGraphExec_t points to. Graphs that launch the instance share it.
using InstanceHandle = std::shared_ptr<Instance>;

abi::CudaError instantiate(InstanceHandle** made, Graph* graph) {
  auto instance = std::make_shared<Instance>(graph);
  for (const Stream& branch : graph->branches) {
    Stream* const stream = make_stream(branch.flags, branch.priority);
    stream->device = branch.device;
    instance->streams.push_back(stream);
  }
  *made = new InstanceHandle(std::move(instance));
  return abi::kCudaSuccess;
}

void launch(const Instance& instance, const void* stream) {
  log::Entry entry("cudaGraphLaunch", RecordKind::kCall);
  entry.at(target_of(stream));
  entry.text(TANDEM_PRETEND_LIBRARY);
  for (const auto& node : instance.graph->nodes) {
    if (node->again) node->again(node->branch == 0 ? stream : instance.streams[node->branch]);
  }
}

// What cudaStreamGetCaptureInfo() fills; all but the status may be missing.
struct CaptureAnswer {
  int* status;
  uint64_t* number = nullptr;
  Graph** graph = nullptr;
  Node* const** dependencies = nullptr;
  uint64_t* count = nullptr;
};

template <typename Value>
void fill(Value* to, Value value) {
  if (to != nullptr) *to = value;
}

abi::CudaError answer(const void* stream, const CaptureAnswer& to) {
  const capture::Info info = capture::info_of(stream);
  *to.status = static_cast<int>(info.status);
  fill(to.number, info.number);
  fill(to.graph, info.graph);
  fill(to.dependencies, info.dependencies);
  fill(to.count, info.count);
  return abi::kCudaSuccess;
}

// Copies to `to`, which has room for `*count`, or gives the count where it is missing.
template <typename Nodes>
abi::CudaError list(const Nodes& nodes, Node** to, uint64_t* count) {
  if (to == nullptr) {
    *count = nodes.size();
    return abi::kCudaSuccess;
  }
  *count = std::min<uint64_t>(*count, nodes.size());
  for (uint64_t at = 0; at < *count; ++at) to[at] = &*nodes[at];
  return abi::kCudaSuccess;
}

abi::CudaError set_dependencies(const void* stream, Node* const* nodes, uint64_t count,
                                uint64_t flags) {
  const bool keeps_former = static_cast<unsigned>(flags) != kReplace;
  const bool done = capture::set_dependencies(stream, {nodes, nodes + count}, keeps_former);
  return with_last_error(done ? abi::kCudaSuccess : abi::kCudaIllegalState);
}

const char* name_of(capture::NodeType type) {
  constexpr const char* kNames[] = {"kernel", "copy",  "fill", "host function",
                                    "graph",  "empty", "wait", "event"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace

extern "C" {

abi::CudaError cudaStreamBeginCapture(Stream* stream, int mode) {
  accept(TANDEM_PRETEND_LIBRARY, "cudaStreamBeginCapture");
  return with_last_error(capture::begin(stream, mode));
}

abi::CudaError cudaStreamEndCapture(Stream* stream, Graph** graph) {
  accept(TANDEM_PRETEND_LIBRARY, "cudaStreamEndCapture");
  return with_last_error(capture::end(stream, graph));
}

abi::CudaError cudaStreamIsCapturing(void* stream, int* status) { return answer(stream, {status}); }

// CUDA 12 has three versions of this function, and CUDA 13 gave its name to the last one.
abi::CudaError cudaStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* number,
                                           Graph** graph, Node* const** dependencies,
                                           uint64_t* count) {
  return answer(stream, {status, number, graph, dependencies, count});
}

abi::CudaError cudaStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* number,
                                           Graph** graph, Node* const** dependencies,
                                           const void** edges, uint64_t* count) {
  fill(edges, static_cast<const void*>(nullptr));
  return answer(stream, {status, number, graph, dependencies, count});
}

abi::CudaError cudaStreamGetCaptureInfo(void* stream, int* status, uint64_t* number, Graph** graph,
                                        Node* const** dependencies, const void** edges,
                                        uint64_t* count) {
  return kCudaMajor == 12 ? answer(stream, {status, number})
                          : cudaStreamGetCaptureInfo_v3(stream, status, number, graph, dependencies,
                                                        edges, count);
}

// CUDA 13 has an argument for the kinds of dependencies before the last ones; what a caller did not
// pass is not read.
abi::CudaError cudaStreamUpdateCaptureDependencies(void* stream, Node* const* nodes, uint64_t third,
                                                   uint64_t fourth, uint64_t fifth) {
  return kCudaMajor == 12 ? set_dependencies(stream, nodes, third, fourth)
                          : set_dependencies(stream, nodes, fourth, fifth);
}

abi::CudaError cudaGraphNodeGetDependencies(const Node* node, Node** to, uint64_t* third,
                                            uint64_t* fourth) {
  return list(node->dependencies, to, kCudaMajor == 12 ? third : fourth);
}

abi::CudaError cudaThreadExchangeStreamCaptureMode(int* mode) {
  return put(mode, capture::exchange_mode(*mode));
}

abi::CudaError cudaGraphInstantiate(InstanceHandle** made, Graph* graph, uint64_t) {
  return instantiate(made, graph);
}

abi::CudaError cudaGraphInstantiateWithFlags(InstanceHandle** made, Graph* graph, uint64_t) {
  return instantiate(made, graph);
}

// Launched into a stream that is captured, the graph becomes a call of that graph.
abi::CudaError cudaGraphLaunch(const InstanceHandle* instance, void* stream) {
  if (!capture::takes(stream, capture::NodeType::kGraph,
                      [mine = *instance](const void* on) { launch(*mine, on); })) {
    launch(**instance, stream);
  }
  return abi::kCudaSuccess;
}

abi::CudaError cudaGraphDestroy(Graph* graph) {
  release(graph);
  return abi::kCudaSuccess;
}

abi::CudaError cudaGraphExecDestroy(InstanceHandle* instance) { return destroy(instance); }

abi::CudaError cudaGraphGetNodes(const Graph* graph, Node** to, uint64_t* count) {
  return list(graph->nodes, to, count);
}

abi::CudaError cudaGraphNodeGetType(const Node* node, int* type) {
  return put(type, static_cast<int>(node->type));
}

abi::CudaError cudaGraphAddEmptyNode(Node** made, Graph* graph, Node* const* nodes,
                                     uint64_t count) {
  *made = graph->add(capture::NodeType::kEmpty, 0, {nodes, nodes + count}, {});
  return abi::kCudaSuccess;
}

abi::CudaError cudaGraphDebugDotPrint(const Graph* graph, const char* path, unsigned) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return with_last_error(abi::kCudaInvalidValue);
  std::fprintf(file, "digraph dot {\n");
  for (const auto& node : graph->nodes) {
    const void* const name = node.get();
    std::fprintf(file, "\"%p\" [label=\"%s\"];\n", name, name_of(node->type));
    for (const void* const before : node->dependencies) {
      std::fprintf(file, "\"%p\" -> \"%p\";\n", before, name);
    }
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
  return abi::kCudaSuccess;
}

abi::CudaError cudaUserObjectCreate(UserObject** made, void* data, void (*destroy)(void*),
                                    unsigned references, unsigned) {
  *made = new UserObject{data, destroy, references};
  return abi::kCudaSuccess;
}

abi::CudaError cudaUserObjectRelease(UserObject* object, unsigned count) {
  release(object, count);
  return abi::kCudaSuccess;
}

abi::CudaError cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                         unsigned flags) {
  if (flags != kMoveReferences) object->references.fetch_add(count);
  graph->objects.insert(graph->objects.end(), count, object);
  return abi::kCudaSuccess;
}
}
