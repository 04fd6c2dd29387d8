// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

class Stream;

// Work that streams of one device were given while the work was captured (Stream::capture), to be
// run again as a whole: a CUDA graph. Every replay has the same memory, sizes and order; the
// contents of the memory may change. The owner must destroy the graph only when no replay is in
// flight, as for buffers.
class StreamGraph {
 public:
  StreamGraph() = default;
  StreamGraph(const StreamGraph&) = delete;
  StreamGraph& operator=(const StreamGraph&) = delete;
  virtual ~StreamGraph() = default;

  // Enqueues the whole graph on `stream`, of the same device, behind the earlier work; later work
  // on the stream starts when the whole graph is done. Errors surface as errors of other work do.
  virtual void replay(Stream& stream) = 0;
};

// A timer or a communicator that keeps account on the host of the work that it enqueues: a replay
// enqueues this work without the observer, so the observer is told. Called by the enqueuing thread.
class CaptureObserver {
 public:
  CaptureObserver() = default;
  CaptureObserver(const CaptureObserver&) = delete;
  CaptureObserver& operator=(const CaptureObserver&) = delete;
  virtual ~CaptureObserver() = default;

  // Work enqueued between the two calls does not run, but becomes part of a graph.
  virtual void capture_begins() = 0;
  virtual void capture_ends() = 0;

  // The calls around each replay of this graph, as the replay is enqueued on `stream`.
  virtual void replay_begins(Stream& stream) = 0;
  virtual void replay_ends(Stream& stream) = 0;
};

}  // namespace tandem
