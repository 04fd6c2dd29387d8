// SPDX-License-Identifier: Apache-2.0
//
// What a traced pass found: when each device did what, of all ranks on one clock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/units.h"

namespace tandem::timeline {

// In the order in which they nest.
enum class Kind {
  kHarness,    // what measures around the steps, on the host
  kStep,       // of a device
  kPhase,      // partition the step
  kLayer,      // consecutive operations of one layer
  kOperation,  // the kernels of one operation
  kCopy,
  kCollective,  // waiting for peers, then the transfer
  kKernel,      // a GPU ran it
  kMemory,      // a GPU copied or set memory
};

inline constexpr std::array<std::string_view, 9> kKindNames{
    "harness", "step", "phase", "layer", "kernel_group", "copy", "collective", "kernel", "memory"};

// What a GPU says that it ran, within what was enqueued.
[[nodiscard]] constexpr bool is_of_gpu(Kind kind) {
  return kind == Kind::kKernel || kind == Kind::kMemory;
}

// How the ranks of a collective came together.
struct Arrival {
  Nanoseconds skew{0};    // from the first rank's arrival to the last one's
  Nanoseconds waited{0};  // from this rank's own to the last one's
  int last_rank = 0;      // who came last
  int last_device = 0;
};

struct Slice {
  Kind kind = Kind::kPhase;
  std::string name;
  Nanoseconds begin{0};  // since the epoch of the trace's clock
  Nanoseconds end{0};
  int step = 0;                      // of the traced ones, from 1; 0: none's
  std::string layer{};               // of an operation, whose parameters it uses; empty: none's
  int index = -1;                    // of a bucket's collective: among its step's
  int sequence = -1;                 // of a collective: among the trace's, the same on all ranks
  Bytes size{};                      // that copies, a collective or memory's slice moves
  int copies = 1;                    // in a row, of a copy's slice
  std::uint64_t graph_node = 0;      // of a kernel or of memory in a replay, CUDA's name for it
  std::optional<Arrival> arrival{};  // of a collective that was matched with its peers'

  [[nodiscard]] Nanoseconds length() const { return end - begin; }
};

inline constexpr int kNoDevice = -1;

// One stream of a device, or a thread that measures. Slices nest or are apart; in order of their
// beginnings, those that hold others before these.
struct Track {
  int device = kNoDevice;
  std::string name;  // what it is there for: "compute", "comm", "copies", "other"; "harness"
  std::vector<Slice> slices{};
};

// A step's bucket of gradients on the device's compute stream.
struct Bucket {
  int device = 0;
  int step = 0;
  int index = 0;
  std::optional<Nanoseconds> ready{};  // all that its collective combines is there
  std::optional<Nanoseconds> back{};   // compute goes on with what it made
};

struct Process {
  int rank = 0;
  std::string host;
  // Rank 0's clock was ahead of its own by so much before the pass, and gained so many seconds per
  // second; its times are on rank 0's, and off it by no more than the error, either way.
  Nanoseconds clock_offset{0};
  double clock_drift = 0;
  Nanoseconds clock_error{0};
  // Where times of GPUs are from; empty: there are none. Records of what they ran that were lost.
  std::string cuda_times{};
  std::int64_t lost_records = 0;
  std::vector<Track> tracks{};
  std::vector<Bucket> buckets{};
};

// What a launch's samples found, per step, by the definitions of its record and report.
struct LaunchFigures {
  int samples = 0;
  bool has_root = false;  // whose device is the critical one; else each sample's slowest is
  Seconds step{0};        // median of the samples
  // Means over samples; of devices without timed phases none.
  std::map<std::string, Seconds> phases{};  // of each sample's critical device
  Seconds least_exposed{0};                 // of exposed_comm, the least of all devices
  Seconds least_compute{0};                 // the same of forward and backward
  Seconds collectives{0};                   // of each gradient collective the least, in sum

  [[nodiscard]] Seconds phase(const std::string& name) const {
    const auto found = phases.find(name);
    return found == phases.end() ? Seconds{0} : found->second;
  }
  // What the critical device computes and waits longer than the least of all.
  [[nodiscard]] Seconds skew() const {
    return phase("forward") + phase("backward") + phase("exposed_comm") - least_exposed -
           least_compute;
  }
  // Of the collectives, the share behind backward; 0 where there are none.
  [[nodiscard]] double hidden_share() const {
    return collectives > Seconds{0} ? 1 - least_exposed / collectives : 0;
  }
};

struct Trace {
  std::map<std::string, std::string> facts;  // what was traced, by name
  std::vector<Process> processes;            // by rank
  std::optional<LaunchFigures> untraced{};   // of the same launch, before anything was recorded
};

}  // namespace tandem::timeline
