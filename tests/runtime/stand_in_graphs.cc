// SPDX-License-Identifier: Apache-2.0
//
// Captures and graphs of the stand-in. As strict as CUDA: what may not be done while a stream is
// captured spoils the capture, and a graph knows no order but that of the recorded dependencies.
// Its nodes are run latest first where these leave a choice, so that one that is missing shows as
// wrong numbers. Stricter where CUDA's documents are vague: no call that waits, asks or allocates
// passes on the capturing thread, and host memory in a captured copy is pinned.
#include <algorithm>
#include <queue>

#include "tests/runtime/stand_in_machine.h"
#include "tests/runtime/stand_in_tracing.h"

using namespace tandem::testing::stand_in;  // NOLINT(google-build-using-namespace): one program

struct CUgraph_st {
  std::shared_ptr<const Nodes> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const Nodes> nodes;
};

namespace {

// All captures, and what streams and events know of them.
std::recursive_mutex& captures_mutex() {
  static std::recursive_mutex one;
  return one;
}

std::vector<std::shared_ptr<Capture>>& open_captures() {
  static std::vector<std::shared_ptr<Capture>> all;
  return all;
}

cudaError_t spoil(Capture& capture, cudaError_t status) {
  capture.spoiled = true;
  return answer(status);
}

void merge(std::vector<std::size_t>& into, const std::vector<std::size_t>& from) {
  std::set<std::size_t> all(into.begin(), into.end());
  all.insert(from.begin(), from.end());
  into.assign(all.begin(), all.end());
}

std::size_t add_node(CUstream_st& stream, std::function<void()> body) {
  Nodes& nodes = stream.capture->nodes;
  nodes.push_back({std::move(body), stream.tail});
  stream.tail = {nodes.size() - 1};
  return nodes.size() - 1;
}

// All nodes that `last` come after, and these.
std::set<std::size_t> reached_from(const Nodes& nodes, const std::vector<std::size_t>& last) {
  std::set<std::size_t> reached(last.begin(), last.end());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (reached.contains(i)) reached.insert(nodes[i].after.begin(), nodes[i].after.end());
  }
  return reached;
}

bool is_joined(const Capture& capture) {
  const std::set<std::size_t> reached = reached_from(capture.nodes, capture.origin->tail);
  return std::ranges::all_of(capture.streams, [&](cudaStream_t stream) {
    return std::ranges::all_of(stream->tail, [&](std::size_t i) { return reached.contains(i); });
  });
}

void run_latest_first(const Nodes& nodes) {
  std::vector<std::size_t> missing(nodes.size());
  std::vector<std::vector<std::size_t>> next(nodes.size());
  std::priority_queue<std::size_t> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].after.size();
    for (const std::size_t earlier : nodes[i].after) next[earlier].push_back(i);
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    nodes[i].body();
    for (const std::size_t later : next[i]) {
      if (--missing[later] == 0) ready.push(later);
    }
  }
}

// Ends it; whether it was whole.
cudaError_t close(const std::shared_ptr<Capture>& capture) {
  const bool joined = is_joined(*capture);
  capture->open = false;
  for (cudaStream_t stream : capture->streams) {
    stream->capture = nullptr;
    stream->tail.clear();
  }
  std::erase(open_captures(), capture);
  if (capture->spoiled) return answer(cudaErrorStreamCaptureInvalidated);
  return joined ? cudaSuccess : answer(cudaErrorStreamCaptureUnjoined);
}

}  // namespace

namespace tandem::testing::stand_in {

void submit(cudaStream_t stream, std::function<void()> body) {
  {
    const std::lock_guard lock(captures_mutex());
    if (stream->capture) {
      static_cast<void>(add_node(*stream, std::move(body)));
      return;
    }
  }
  stream->push(std::move(body));
}

bool is_captured(cudaStream_t stream) {
  const std::lock_guard lock(captures_mutex());
  return stream->capture != nullptr;
}

cudaError_t give(const char* function, cudaStream_t stream, std::function<void()> body) {
  const std::lock_guard lock(captures_mutex());
  if (stream == nullptr) {  // the legacy stream, which waits for all others
    for (const auto& capture : open_captures())
      return spoil(*capture, cudaErrorStreamCaptureImplicit);
    return answer(cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t status = enter(function, stream->gpu)) return status;
  if (stream->capture && stream->capture->spoiled) {
    return answer(cudaErrorStreamCaptureInvalidated);
  }
  submit(stream, told_to_cupti(function, stream, std::move(body)));
  return cudaSuccess;
}

cudaError_t check_no_capture(cudaStream_t stream, cudaEvent_t event) {
  const std::lock_guard lock(captures_mutex());
  if (event != nullptr && event->capture) {
    return spoil(*event->capture, cudaErrorCapturedEvent);
  }
  if (stream != nullptr && stream->capture) {
    return spoil(*stream->capture, cudaErrorStreamCaptureUnsupported);
  }
  for (const auto& capture : open_captures()) {
    const bool forbids = capture->mode == cudaStreamCaptureModeGlobal ||
                         (capture->mode == cudaStreamCaptureModeThreadLocal &&
                          capture->thread == std::this_thread::get_id());
    if (forbids) return spoil(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return cudaSuccess;
}

cudaError_t refuse_in_capture(cudaStream_t stream) {
  const std::lock_guard lock(captures_mutex());
  return stream->capture ? spoil(*stream->capture, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

}  // namespace tandem::testing::stand_in

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const cudaError_t status = enter("cudaStreamBeginCapture", stream->gpu)) return status;
  const std::lock_guard lock(captures_mutex());
  if (stream->capture) return spoil(*stream->capture, cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  *stream->capture = {
      .origin = stream, .mode = mode, .thread = std::this_thread::get_id(), .streams = {stream}};
  open_captures().push_back(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (const cudaError_t status = enter("cudaStreamEndCapture", stream->gpu)) return status;
  const std::lock_guard lock(captures_mutex());
  const auto capture = stream->capture;
  if (!capture) return answer(cudaErrorIllegalState);
  if (capture->origin != stream) return spoil(*capture, cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return spoil(*capture, cudaErrorStreamCaptureWrongThread);
  }
  if (const cudaError_t status = close(capture)) return status;
  *graph = new CUgraph_st{std::make_shared<const Nodes>(std::move(capture->nodes))};
  ++alive();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(captures_mutex());
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->spoiled ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return enter("cudaStreamIsCapturing", stream->gpu);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (event->gpu != stream->gpu) return answer(cudaErrorInvalidResourceHandle);
  const std::lock_guard lock(captures_mutex());
  if (flags == cudaEventRecordExternal) {
    if (!stream->capture) return answer(cudaErrorInvalidValue);
    return give("cudaEventRecordWithFlags", stream, [event] {
      event->record = std::make_shared<Record>();
      event->record->complete();
    });
  }
  if (!stream->capture) {
    event->capture = nullptr;
    const auto record = std::make_shared<Record>();
    const cudaError_t status = give("cudaEventRecord", stream, [record] { record->complete(); });
    if (status == cudaSuccess) event->record = record;
    return status;
  }
  if (const cudaError_t status = enter("cudaEventRecord", stream->gpu)) return status;
  if (stream->capture->spoiled) return answer(cudaErrorStreamCaptureInvalidated);
  event->capture = stream->capture;
  event->after = stream->tail;
  event->record = nullptr;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t status = enter("cudaStreamWaitEvent", stream->gpu)) return status;
  const std::lock_guard lock(captures_mutex());
  if (event->capture) {
    if (!event->capture->open) return answer(cudaErrorCapturedEvent);
    if (event->capture->spoiled) return answer(cudaErrorStreamCaptureInvalidated);
    if (stream->capture && stream->capture != event->capture) {
      static_cast<void>(spoil(*stream->capture, cudaErrorStreamCaptureMerge));
      return spoil(*event->capture, cudaErrorStreamCaptureMerge);
    }
    if (!stream->capture) event->capture->streams.push_back(stream);
    stream->capture = event->capture;
    merge(stream->tail, event->after);
    return cudaSuccess;
  }
  if (stream->capture) return spoil(*stream->capture, cudaErrorStreamCaptureIsolation);
  if (event->record) stream->push([record = event->record] { record->wait(); });
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  if (const cudaError_t status = enter("cudaGraphInstantiate")) return status;
  *executable = new CUgraphExec_st{graph->nodes};
  ++alive();
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (const cudaError_t status = refuse_in_capture(stream)) return status;
  return give("cudaGraphLaunch", stream, [nodes = executable->nodes] { run_latest_first(*nodes); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  --alive();
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  --alive();
  return cudaSuccess;
}

}  // extern "C"
