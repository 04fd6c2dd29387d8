// SPDX-License-Identifier: Apache-2.0
//
// Streams that are captured into a graph: a call that goes to such a stream is kept instead of
// done, as a function that makes the same call again on another stream. A graph that is launched
// makes its calls in the order of their capture.
//
// Thread-safe. Calls on other streams pay one load while nothing is captured.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pretend/abi/cudart.h"
#include "pretend/core/device.h"

namespace tandem::pretend::capture {

enum class NodeType : int {  // cudaGraphNodeType
  kKernel = 0,
  kCopy = 1,
  kFill = 2,
  kHostFunction = 3,
  kGraph = 4,
  kEmpty = 5,
  kWait = 6,
  kEvent = 7,
};

using Again = std::function<void(const void* stream)>;

struct Node {
  NodeType type = NodeType::kEmpty;
  size_t branch = 0;  // which of the graph's streams
  Again again{};      // empty: nothing to do
  std::vector<Node*> dependencies{};
};

// Memory of the program that lives as long as graphs need it: cudaUserObject_t.
struct UserObject {
  void* data;
  void (*destroy)(void*);
  std::atomic<int64_t> references;
};
void release(UserObject* object, unsigned references);

// What a cudaGraph_t points to. Owned by the capture or its handle, by what was instantiated of it,
// and by graphs that launch that.
struct Graph {
  std::atomic<int> owners{1};
  std::vector<std::unique_ptr<Node>> nodes{};
  std::vector<Stream> branches{};  // the captured streams, that of cudaStreamBeginCapture first
  std::vector<UserObject*> objects{};

  Node* add(NodeType type, size_t branch, std::vector<Node*> dependencies, Again again);
};
void release(Graph* graph);

extern std::atomic<int> open;  // captures that have begun and not ended
[[nodiscard]] inline bool is_any() { return open.load(std::memory_order_relaxed) > 0; }

// Keeps the call if the stream is captured: then it is not to be done now.
bool keep(const void* stream, NodeType type, Again again);
template <typename Function>
bool takes(const void* stream, NodeType type, const Function& again) {
  return is_any() && keep(stream, type, again);
}

// Records of events and waits for them on captured streams, which carry a capture from stream to
// stream. `done` is false where the stream is not captured, and remains so.
struct Answer {
  bool done = false;
  abi::CudaError error = abi::kCudaSuccess;
};
[[nodiscard]] Answer record(const char* call, const Event* event, const void* stream);
[[nodiscard]] Answer wait(const char* call, const Event* event, const void* stream);
void forget(const Event* event);  // which is destroyed

// Errors of what the host must not do meanwhile, which fails the capture. Unsafe is what
// cudaThreadExchangeStreamCaptureMode() allows or forbids, such as cudaMalloc.
[[nodiscard]] abi::CudaError check_wait_for_stream(const void* stream);
[[nodiscard]] abi::CudaError check_wait_for_device(int device);
[[nodiscard]] abi::CudaError check_event(const Event* event);
[[nodiscard]] abi::CudaError check_unsafe();

[[nodiscard]] abi::CudaError begin(Stream* stream, int mode);
[[nodiscard]] abi::CudaError end(const Stream* stream, Graph** graph);
int exchange_mode(int mode);  // of the calling thread; returns the former one

enum class Status : int { kNone = 0, kActive = 1, kInvalidated = 2 };
struct Info {
  Status status = Status::kNone;
  uint64_t number = 0;  // of the capture, from 1
  Graph* graph = nullptr;
  Node* const* dependencies = nullptr;  // of the stream's next call
  size_t count = 0;
};
[[nodiscard]] Info info_of(const void* stream);

// False where the stream is not captured.
bool set_dependencies(const void* stream, const std::vector<Node*>& nodes, bool keeps_former);

}  // namespace tandem::pretend::capture
