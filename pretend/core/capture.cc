// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/capture.h"

#include <pthread.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "pretend/core/log.h"

namespace tandem::pretend::capture {

std::atomic<int> open{0};

namespace {

enum Mode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };  // cudaStreamCaptureMode

struct Capture {
  uint64_t number = 0;
  int mode = kGlobal;
  pthread_t thread{};
  bool has_failed = false;
  Graph* graph = new Graph;                // owned
  std::vector<const Stream*> streams{};    // in the order of the graph's branches
  std::vector<std::vector<Node*>> last{};  // what the next call on each stream depends on
  std::map<const Event*, std::vector<Node*>> events{};

  void take_in(const Stream* stream) {
    streams.push_back(stream);
    last.emplace_back();
    graph->branches.push_back(*stream);
  }
};

struct Captures {
  std::mutex mutex{};
  std::vector<std::unique_ptr<Capture>> all{};
  uint64_t begun = 0;
};

Captures& captures() {
  static Captures* const captures = new Captures;
  return *captures;
}

thread_local int mode_of_thread = kGlobal;

bool is_default(const void* stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

struct Place {
  Capture* capture = nullptr;
  size_t branch = 0;

  explicit operator bool() const { return capture != nullptr; }
  [[nodiscard]] std::vector<Node*>& last() const { return capture->last[branch]; }
};

// The following functions are called with the mutex held.

Place place_of(const void* stream) {
  for (const auto& capture : captures().all) {
    const auto found = std::find(capture->streams.begin(), capture->streams.end(), stream);
    if (found != capture->streams.end()) {
      return {capture.get(), static_cast<size_t>(found - capture->streams.begin())};
    }
  }
  return {};
}

Capture* capture_of(const Event* event) {
  for (const auto& capture : captures().all) {
    if (capture->events.count(event) > 0) return capture.get();
  }
  return nullptr;
}

abi::CudaError fail(Capture& capture, abi::CudaError error) {
  capture.has_failed = true;
  return error;
}

void add(const Place& place, NodeType type, Again again) {
  if (!place.capture->has_failed) {
    Node* const node =
        place.capture->graph->add(type, place.branch, std::move(place.last()), std::move(again));
    place.last() = {node};
  }
}

void merge(std::vector<Node*>& into, const std::vector<Node*>& nodes) {
  for (Node* const node : nodes) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

// Whether the stream that began waits for the last calls of all others.
bool is_joined(const Capture& capture) {
  std::vector<Node*> open_nodes = capture.last.front();
  std::set<Node*> reached(open_nodes.begin(), open_nodes.end());
  while (!open_nodes.empty()) {
    const Node* const node = open_nodes.back();
    open_nodes.pop_back();
    for (Node* const before : node->dependencies) {
      if (reached.insert(before).second) open_nodes.push_back(before);
    }
  }
  return std::all_of(capture.last.begin(), capture.last.end(), [&](const auto& nodes) {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](Node* node) { return reached.count(node) > 0; });
  });
}

// The log's line of an event, when the graph is launched.
Again noted(RecordKind kind, const char* call, uint32_t event) {
  return [=](const void* stream) {
    log::Entry entry(call, kind);
    entry.at(target_of(stream));
    entry.set(event);
  };
}

}  // namespace

void release(UserObject* object, unsigned references) {
  if (object->references.fetch_sub(references) == references) {
    object->destroy(object->data);
    delete object;
  }
}

void release(Graph* graph) {
  if (graph->owners.fetch_sub(1) > 1) return;
  for (UserObject* const object : graph->objects) release(object, 1);
  delete graph;
}

Node* Graph::add(NodeType type, size_t branch, std::vector<Node*> dependencies, Again again) {
  nodes.push_back(
      std::make_unique<Node>(Node{type, branch, std::move(again), std::move(dependencies)}));
  return nodes.back().get();
}

bool keep(const void* stream, NodeType type, Again again) {
  const std::lock_guard lock(captures().mutex);
  const Place place = place_of(stream);
  if (place) add(place, type, std::move(again));
  return static_cast<bool>(place);
}

void forget(const Event* event) {
  const std::lock_guard lock(captures().mutex);
  for (const auto& capture : captures().all) capture->events.erase(event);
}

Answer record(const char* call, const Event* event, const void* stream) {
  forget(event);
  const std::lock_guard lock(captures().mutex);
  const Place place = place_of(stream);
  if (!place) return {};
  add(place, NodeType::kEvent, noted(RecordKind::kEvent, call, event->number));
  place.capture->events[event] = place.last();
  return {true, place.capture->has_failed ? abi::kCudaCaptureInvalidated : abi::kCudaSuccess};
}

Answer wait(const char* call, const Event* event, const void* stream) {
  const std::lock_guard lock(captures().mutex);
  Capture* const source = capture_of(event);
  Place place = place_of(stream);
  if (source == nullptr) {
    const bool is_recorded = event->recorded.load() != 0;
    return !place        ? Answer{}
           : is_recorded ? Answer{true, fail(*place.capture, abi::kCudaCaptureIsolation)}
                         : Answer{true};
  }
  if (place && place.capture != source) {
    fail(*place.capture, abi::kCudaCaptureMerge);
    return {true, fail(*source, abi::kCudaCaptureMerge)};
  }
  if (is_default(stream)) return {true, fail(*source, abi::kCudaCaptureImplicit)};
  if (!place) {
    source->take_in(static_cast<const Stream*>(stream));
    place = {source, source->streams.size() - 1};
  }
  merge(place.last(), source->events[event]);
  add(place, NodeType::kWait, noted(RecordKind::kWait, call, event->number));
  return {true};
}

abi::CudaError check_wait_for_stream(const void* stream) {
  const std::lock_guard lock(captures().mutex);
  const Place place = place_of(stream);
  return place ? fail(*place.capture, abi::kCudaCaptureUnsupported) : abi::kCudaSuccess;
}

abi::CudaError check_wait_for_device(int device) {
  const std::lock_guard lock(captures().mutex);
  abi::CudaError error = abi::kCudaSuccess;
  for (const auto& capture : captures().all) {
    const auto& streams = capture->streams;
    if (std::any_of(streams.begin(), streams.end(),
                    [=](const Stream* stream) { return stream->device == device; })) {
      error = fail(*capture, abi::kCudaCaptureUnsupported);
    }
  }
  return error;
}

abi::CudaError check_event(const Event* event) {
  const std::lock_guard lock(captures().mutex);
  Capture* const capture = capture_of(event);
  return capture == nullptr ? abi::kCudaSuccess : fail(*capture, abi::kCudaCapturedEvent);
}

abi::CudaError check_unsafe() {
  if (mode_of_thread == kRelaxed) return abi::kCudaSuccess;
  const std::lock_guard lock(captures().mutex);
  abi::CudaError error = abi::kCudaSuccess;
  for (const auto& capture : captures().all) {
    const bool is_mine = pthread_equal(capture->thread, pthread_self()) != 0;
    const bool forbids =
        is_mine ? capture->mode != kRelaxed : capture->mode == kGlobal && mode_of_thread == kGlobal;
    if (forbids) error = fail(*capture, abi::kCudaCaptureUnsupported);
  }
  return error;
}

abi::CudaError begin(Stream* stream, int mode) {
  if (is_default(stream)) return abi::kCudaCaptureUnsupported;
  const std::lock_guard lock(captures().mutex);
  if (place_of(stream)) return abi::kCudaIllegalState;
  auto capture = std::make_unique<Capture>();
  capture->number = ++captures().begun;
  capture->mode = mode;
  capture->thread = pthread_self();
  capture->take_in(stream);
  captures().all.push_back(std::move(capture));
  open.fetch_add(1);
  return abi::kCudaSuccess;
}

abi::CudaError end(const Stream* stream, Graph** graph) {
  std::unique_lock lock(captures().mutex);
  const Place place = place_of(stream);
  if (!place) return abi::kCudaIllegalState;
  Capture& capture = *place.capture;
  if (place.branch != 0) return fail(capture, abi::kCudaCaptureUnmatched);
  if (capture.mode != kRelaxed && pthread_equal(capture.thread, pthread_self()) == 0) {
    return fail(capture, abi::kCudaCaptureWrongThread);
  }
  const abi::CudaError error = capture.has_failed    ? abi::kCudaCaptureInvalidated
                               : !is_joined(capture) ? abi::kCudaCaptureUnjoined
                                                     : abi::kCudaSuccess;
  Graph* const made = capture.graph;
  std::erase_if(captures().all, [&](const auto& one) { return one.get() == &capture; });
  open.fetch_sub(1);
  lock.unlock();
  *graph = error == abi::kCudaSuccess ? made : nullptr;
  if (error != abi::kCudaSuccess) {
    release(made);  // which may call the program
  }
  return error;
}

int exchange_mode(int mode) { return std::exchange(mode_of_thread, mode); }

Info info_of(const void* stream) {
  if (!is_any()) return {};
  const std::lock_guard lock(captures().mutex);
  const Place place = place_of(stream);
  if (!place) return {};
  const Capture& capture = *place.capture;
  return {capture.has_failed ? Status::kInvalidated : Status::kActive, capture.number,
          capture.graph, place.last().data(), place.last().size()};
}

bool set_dependencies(const void* stream, const std::vector<Node*>& nodes, bool keeps_former) {
  const std::lock_guard lock(captures().mutex);
  const Place place = place_of(stream);
  if (!place) return false;
  if (!keeps_former) place.last().clear();
  merge(place.last(), nodes);
  return true;
}

}  // namespace tandem::pretend::capture
