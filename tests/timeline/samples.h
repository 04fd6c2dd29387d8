// SPDX-License-Identifier: Apache-2.0
//
// Made-up steps, in nanoseconds.
#pragma once

#include <string>
#include <vector>

#include "common/timeline/clocks.h"
#include "common/timeline/tracks.h"

namespace tandem::timeline {

inline Slice slice(SliceKind kind, const std::string& name, int begin, int end) {
  return {
      .kind = kind, .name = name, .begin = Nanoseconds{begin}, .end = Nanoseconds{end}, .step = 1};
}

struct NamedPhase {
  std::string name;
  int end;
};

// A step from `begin` on whose phases follow one another, each with one operation as long as
// itself unless it is a wait.
inline Track compute_track(int device, int begin, const std::vector<NamedPhase>& phases) {
  Track track{.device = device, .name = "compute"};
  track.slices.push_back(slice(SliceKind::kStep, "step", begin, phases.back().end));
  for (const auto& [name, end] : phases) {
    track.slices.push_back(slice(SliceKind::kPhase, name, begin, end));
    if (name != "idle" && name != "exposed_comm") {
      track.slices.push_back(slice(SliceKind::kOperation, name + "_work", begin, end));
    }
    begin = end;
  }
  sort_slices(track);
  return track;
}

inline Slice collective(int index, int begin, int end) {
  Slice made = slice(SliceKind::kCollective, "collective", begin, end);
  made.index = made.sequence = index;
  made.size = Bytes{1 << 20};
  return made;
}

// Two ranks. Rank 1's backward is longer by 30, and its bucket 1 comes late: collective 1 runs from
// 100 to 150 on rank 0, which came at 70, and transfers for 50.
inline Trace two_ranks() {
  Trace trace{.facts = {{"strategy", "ddp"}}, .processes = {}};
  for (int rank = 0; rank < 2; ++rank) {
    const int end = rank == 0 ? 70 : 100;  // of backward
    Process process{.rank = rank, .host = "here"};
    process.tracks.push_back(compute_track(
        rank, 0, {{"forward", 20}, {"backward", end}, {"exposed_comm", 150}, {"update", 160}}));
    Track comm{.device = rank, .name = "comm"};
    comm.slices = {collective(0, 40, 60), collective(1, end, 150)};
    process.tracks.push_back(comm);
    for (int index = 0; index < 2; ++index) {
      const int ready = index == 0 ? 40 : end;
      process.buckets.push_back({rank, 1, index, Nanoseconds{ready}, Nanoseconds{150}});
    }
    trace.processes.push_back(process);
  }
  match_collectives(trace);
  return trace;
}

}  // namespace tandem::timeline
