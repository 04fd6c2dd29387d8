// SPDX-License-Identifier: Apache-2.0
//
// The result of a traced pass: when each device did what, of all ranks on one clock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"

namespace tandem::timeline {

// The kinds of slices in the order in which slices nest.
enum class SliceKind {
  kHarness,    // measurement around the steps, on the host
  kStep,       // a device's step
  kPhase,      // phases partition the step
  kLayer,      // consecutive operations of one layer
  kOperation,  // the kernels of one operation
  kCopy,
  kCollective,  // waiting for peers, then the transfer
  kKernel,      // a kernel that a GPU ran
  kMemory,      // a GPU's copy or set of memory
};

inline constexpr std::array<std::string_view, 9> kKindNames{
    "harness", "step", "phase", "layer", "kernel_group", "copy", "collective", "kernel", "memory"};

// Whether a GPU reported a slice of this kind, which lies within what was enqueued.
[[nodiscard]] constexpr bool is_of_gpu(SliceKind kind) {
  return kind == SliceKind::kKernel || kind == SliceKind::kMemory;
}

// How the ranks of a collective came together.
struct Arrival {
  Nanoseconds skew{0};    // from the first rank's arrival to the last rank's
  Nanoseconds waited{0};  // from this rank's arrival to the last rank's
  int last_rank = 0;      // the rank that came last
  int last_device = 0;
};

struct Slice {
  SliceKind kind = SliceKind::kPhase;
  std::string name;
  Nanoseconds begin{0};  // since the epoch of the trace's clock
  Nanoseconds end{0};
  int step = 0;                      // traced step from 1; 0 outside steps
  std::string layer{};               // layer whose parameters an operation uses; empty: none
  int index = -1;                    // a bucket's collective: its index within the step
  int sequence = -1;                 // a collective's number in the trace, the same on all ranks
  Bytes size{};                      // bytes moved by copies, a collective or a memory slice
  int copies = 1;                    // number of copies in a row in a copy's slice
  std::optional<Arrival> arrival{};  // arrival of a collective that was matched with its peers'

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
};

inline constexpr int kNoDevice = -1;

// One stream of a device, or a thread that measures. Slices nest or are apart, sorted by their
// beginnings, a containing slice before the slices in it.
struct Track {
  int device = kNoDevice;
  std::string name;  // the track's purpose: "compute", "comm", "copies", "other"; "harness"
  std::vector<Slice> slices{};
};

// A step's bucket of gradients on the device's compute stream.
struct Bucket {
  int device = 0;
  int step = 0;
  int index = 0;
  std::optional<Nanoseconds> ready{};  // when all gradients that the collective combines are there
  std::optional<Nanoseconds> back{};   // when compute goes on with the collective's result
};

struct Process {
  int rank = 0;
  std::optional<int> count{};  // simulated ranks of equal work, from `rank` on; absent: one
  std::string host;            // of simulated ranks the hardware
  // Before the pass rank 0's clock was ahead of this rank's clock by the offset, and gained the
  // drift in seconds per second. The process's times are on rank 0's clock, off by at most the
  // error, either way.
  Nanoseconds clock_offset{0};
  double clock_drift = 0;
  Nanoseconds clock_error{0};
  // The source of GPU times; empty where there are none. The number of lost records of GPU work.
  std::string cuda_times{};
  std::int64_t lost_records = 0;
  std::vector<Track> tracks{};
  std::vector<Bucket> buckets{};
};

// The samples of the same launch before tracing began.
struct UntracedSamples {
  int samples = 0;
  Seconds step{0};  // median of the samples, per step
};

struct Trace {
  std::map<std::string, std::string> facts;  // facts about the traced run, by name
  std::vector<Process> processes;            // processes by rank
  std::optional<UntracedSamples> untraced{};
};

}  // namespace tandem::timeline
