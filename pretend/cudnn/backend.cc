// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's graph interface, pretended: the heuristic offers one engine without knobs, notes or
// workspace, which supports every graph; executing its plan goes to the log.
#include <algorithm>
#include <cstring>

#include "pretend/abi/cudnn.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cudnn/backend_descriptor.h"
#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

SharedContents make_contents(int type) {
  auto contents = std::make_shared<BackendContents>();
  contents->type = type;
  return contents;
}

// The one engine's configuration for a graph.
SharedContents make_configuration(const SharedContents& graph) {
  SharedContents engine = make_contents(abi::kBackendEngine);
  engine->set_child(abi::kEngineGraph, graph);
  engine->set_number(abi::kEngineIndex, 0);
  SharedContents configuration = make_contents(abi::kBackendEngineConfig);
  configuration->set_child(abi::kConfigEngine, engine);
  configuration->set_number(abi::kConfigWorkspace, 0);
  configuration->set_number(abi::kConfigSharedMemory, 0);
  return configuration;
}

// Through configuration and engine to the graph of a plan; nullptr where a link is missing.
SharedContents graph_of(const BackendContents& plan) {
  const SharedContents configuration = plan.child(abi::kPlanConfig);
  const SharedContents engine =
      configuration == nullptr ? nullptr : configuration->child(abi::kConfigEngine);
  return engine == nullptr ? nullptr : engine->child(abi::kEngineGraph);
}

void finalise(BackendContents& contents) {
  if (contents.type == abi::kBackendHeuristic) {
    contents.set_child(abi::kHeuristicResults,
                       make_configuration(contents.child(abi::kHeuristicGraph)));
  } else if (contents.type == abi::kBackendGraph) {
    contents.set_number(abi::kGraphEngineCount, 1);
  } else if (contents.type == abi::kBackendPlan) {
    const SharedContents graph = graph_of(contents);
    contents.set_number(abi::kPlanWorkspace, 0);
    contents.operations = log::keep(graph == nullptr ? "[]" : describe_operations(*graph).c_str());
  }
}

void get_children(const BackendValue& value, int64_t wanted, void* elements) {
  auto** const descriptors = static_cast<BackendDescriptor**>(elements);
  const auto count = std::min(wanted, static_cast<int64_t>(value.children.size()));
  for (int64_t at = 0; at < count; ++at) {
    descriptors[at]->contents = value.children[static_cast<size_t>(at)];
  }
}

}  // namespace

extern "C" {

int cudnnBackendCreateDescriptor(int type, BackendDescriptor** made) {
  *made = new BackendDescriptor{make_contents(type)};
  return 0;
}

int cudnnBackendDestroyDescriptor(BackendDescriptor* descriptor) { return destroy(descriptor); }

int cudnnBackendInitialize(BackendDescriptor*) { return 0; }

int cudnnBackendFinalize(BackendDescriptor* descriptor) {
  finalise(*descriptor->contents);
  return 0;
}

int cudnnBackendSetAttribute(BackendDescriptor* descriptor, int attribute, int element,
                             int64_t count, const void* elements) {
  BackendValue& value = descriptor->contents->values[attribute];
  value.count = count;
  if (element == abi::kElementDescriptor) {
    value.children.clear();
    const auto* const children = static_cast<BackendDescriptor* const*>(elements);
    for (int64_t at = 0; at < count; ++at) {
      value.children.push_back(children[at] == nullptr ? nullptr : children[at]->contents);
    }
    return 0;
  }
  const auto* const from = static_cast<const char*>(elements);
  value.bytes.assign(from, from + count * element_bytes(element));
  return 0;
}

int cudnnBackendGetAttribute(BackendDescriptor* descriptor, int attribute, int element,
                             int64_t wanted, int64_t* count, void* elements) {
  const auto found = descriptor->contents->values.find(attribute);
  if (count != nullptr) {
    *count = found == descriptor->contents->values.end() ? 0 : found->second.count;
  }
  if (elements == nullptr || found == descriptor->contents->values.end()) return 0;
  if (element == abi::kElementDescriptor) {
    get_children(found->second, wanted, elements);
    return 0;
  }
  const size_t bytes =
      std::min(static_cast<size_t>(wanted * element_bytes(element)), found->second.bytes.size());
  std::memcpy(elements, found->second.bytes.data(), bytes);
  return 0;
}

int cudnnBackendExecute(DnnHandle* handle, BackendDescriptor* plan, BackendDescriptor*) {
  const char* const operations = plan->contents->operations;
  const bool convolves =
      operations != nullptr && std::strstr(operations, "\"convolution-") != nullptr;
  return log_library("cudnnBackendExecute", handle, operations,
                     convolves ? RecordKind::kConvolution : RecordKind::kLibrary);
}
}
