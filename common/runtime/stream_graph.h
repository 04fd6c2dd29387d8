// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

class Stream;

// Work that streams of one device were given while it was captured (Stream::capture), to be run
// again as a whole: a CUDA graph. Nothing in it is decided anew: the same memory, sizes and order
// in every replay; what the memory holds may change. Goes once no replay is in flight any more: its
// owner sees to that, as for buffers.
class StreamGraph {
 public:
  StreamGraph() = default;
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;
  virtual ~StreamGraph() = default;

  // Enqueues all of it on `stream`, of the same device, behind what is there; what comes later on
  // the stream starts when all of it is done. Errors surface as those of other work.
  virtual void replay(Stream& stream) = 0;
};

// Who keeps account on the host of what it enqueues, a timer or a communicator: a replay enqueues
// without it, so it is told. Called by the thread that enqueues.
class CaptureObserver {
 public:
  CaptureObserver() = default;
  CaptureObserver(const CaptureObserver&) = delete;
  CaptureObserver& operator=(const CaptureObserver&) = delete;
  virtual ~CaptureObserver() = default;

  // What it enqueues in between does not run, but becomes part of a graph.
  virtual void capture_begins() = 0;
  virtual void capture_ends() = 0;

  // Around each replay of that graph, as it is enqueued on `stream`.
  virtual void replay_begins(Stream& stream) = 0;
  virtual void replay_ends(Stream& stream) = 0;
};

}  // namespace tandem
