// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/error.h"
#include "common/timeline/clocks.h"
#include "common/timeline/kineto_file.h"
#include "common/timeline/tracks.h"

namespace tandem::timeline {
namespace {

TimeRange span_of(const RankFile& file) {
  return {file.host.steps.begin()->second.begin, file.host.steps.rbegin()->second.end};
}

// Complains unless the files are of ranks of one run.
void check_one_run(const std::vector<RankFile>& files) {
  const RankFile& first = files.front();
  for (const RankFile& file : files) {
    const auto complain = [&](const std::string& what) {
      fail(ErrorKind::kUsage, "{} and {}: {}: give the files of one run, one of each rank",
           first.source, file.source, what);
    };
    if (&file == &first) continue;
    if (file.ranks != first.ranks) {
      complain(fmt::format("they are of jobs of {} and {} ranks", first.ranks, file.ranks));
    }
    for (const RankFile& other : files) {
      if (&other != &file && other.rank == file.rank) {
        complain(fmt::format("rank {} comes twice", file.rank));
      }
    }
    const TimeRange a = span_of(first);
    const TimeRange b = span_of(file);
    if (a.end <= b.begin || b.end <= a.begin) {
      complain("their steps lie at different times, so they are of two runs");
    }
  }
}

void check_all_ranks(const std::vector<RankFile>& files) {
  const RankFile& first = files.front();
  if (std::ssize(files) == first.ranks) return;
  fail(ErrorKind::kUsage, "{}: {} of {} ranks: give the files of all ranks", first.source,
       files.size(), first.ranks);
}

// Makes one device's tracks of a rank's file.
class DeviceMaker {
 public:
  DeviceMaker(const RankFile& file, int device, bool is_gpu)
      : file_(file), device_(device), is_gpu_(is_gpu), marks_(marks_of(file, device, is_gpu)) {}

  void add_to(Process& process) {
    const std::vector<KinetoEvent>& work = is_gpu_ ? file_.kernels : file_.operators;
    const std::vector<KinetoEvent>& collectives =
        is_gpu_ ? file_.gpu_collectives : file_.host_collectives;
    take_work(work);
    take_collectives(collectives);
    compute_.device = device_;
    compute_.name = "compute";
    for (const auto& [number, time] : marks_.steps) write_step(number, time);
    sort_slices(compute_);
    process.tracks.push_back(std::move(compute_));
    for (auto& [thread, track] : comm_) process.tracks.push_back(std::move(track));
  }

 private:
  // A GPU's own marks; the host's steps where the profiler put none on the GPU.
  static Marks marks_of(const RankFile& file, int device, bool is_gpu) {
    if (!is_gpu) return file.host;
    const auto found = file.gpus.find(device);
    Marks marks = found == file.gpus.end() ? Marks{} : found->second;
    if (marks.steps.empty()) marks.steps = file.host.steps;
    return marks;
  }

  [[nodiscard]] bool is_mine(const KinetoEvent& event) const {
    return !is_gpu_ || event.device == device_;
  }

  // The device's own, in the order of time.
  [[nodiscard]] std::vector<const KinetoEvent*> mine_of(
      const std::vector<KinetoEvent>& events) const {
    std::vector<const KinetoEvent*> mine;
    for (const KinetoEvent& event : events) {
      if (is_mine(event)) mine.push_back(&event);
    }
    std::ranges::stable_sort(mine, {}, [](const KinetoEvent* event) { return event->time.begin; });
    return mine;
  }

  // The operators or kernels that lie in no other one: pieces that do not overlap.
  void take_work(const std::vector<KinetoEvent>& events) {
    Nanoseconds covered{0};
    for (const KinetoEvent* event : mine_of(events)) {
      const Nanoseconds begin = std::max(covered, event->time.begin);
      if (begin >= event->time.end) continue;
      pieces_.push_back({.kind = SliceKind::kOperation,
                         .name = event->name,
                         .begin = begin,
                         .end = event->time.end});
      covered = event->time.end;
    }
    for (const Slice& piece : pieces_) work_.push_back({piece.begin, piece.end});
    work_ = union_of(std::move(work_));
  }

  void take_collectives(const std::vector<KinetoEvent>& events) {
    std::map<int, int> buckets;
    int sequence = 0;
    for (const KinetoEvent* event : mine_of(events)) {
      const int step = step_at(event->time.begin);
      Track& track = comm_[event->thread];
      if (track.name.empty()) {
        track.device = device_;
        track.name = comm_.size() == 1 ? "comm" : fmt::format("comm {}", comm_.size());
      }
      const bool reduces = event->name.find("all_reduce") != std::string::npos ||
                           event->name.find("AllReduce") != std::string::npos;
      track.slices.push_back({.kind = SliceKind::kCollective,
                              .name = event->name,
                              .begin = event->time.begin,
                              .end = event->time.end,
                              .step = step,
                              .index = reduces && step > 0 ? buckets[step]++ : -1,
                              .sequence = sequence++,
                              .size = event->size});
      communication_.push_back(event->time);
    }
    communication_ = union_of(std::move(communication_));
  }

  [[nodiscard]] int step_at(Nanoseconds time) const {
    for (const auto& [number, step] : marks_.steps) {
      if (step.begin <= time && time < step.end) return number;
    }
    return 0;
  }

  // The step in phases: work by the marks around it, then waits.
  void write_step(int number, const TimeRange& time) {
    const TimeRanges whole{time};
    add(SliceKind::kStep, "step", whole, number);
    TimeRanges left = intersection(work_, whole);
    if (!is_gpu_) {  // between operators a host runs Python
      left = without(whole, without(communication_, work_));
    }
    const TimeRanges busy = left;
    for (const PhaseMark& mark : kPhaseMarks) {
      const auto found = marks_.phases.find(mark.phase);
      if (found == marks_.phases.end()) continue;
      const TimeRanges inside = intersection(left, found->second);
      add(SliceKind::kPhase, std::string(mark.phase), inside, number);
      left = without(left, inside);
    }
    add(SliceKind::kPhase, is_gpu_ ? "compute" : "host", left, number);
    const TimeRanges waits = without(whole, busy);
    const TimeRanges exposed = intersection(waits, communication_);
    add(SliceKind::kPhase, "exposed_comm", exposed, number);
    add(SliceKind::kPhase, "idle", without(waits, exposed), number);
    write_pieces(number, whole);
  }

  // Operators cut where a phase begins, so that slices nest.
  void write_pieces(int number, const TimeRanges& step) {
    TimeRanges phases;
    for (const Slice& slice : compute_.slices) {
      if (slice.kind == SliceKind::kPhase && slice.step == number) {
        phases.push_back({slice.begin, slice.end});
      }
    }
    std::ranges::sort(phases, {}, &TimeRange::begin);
    // Neither pieces nor phases overlap, and both are in the order of time: one pass over the two.
    auto phase = phases.begin();
    for (const Slice& piece : pieces_) {
      if (piece.end <= step.front().begin || piece.begin >= step.front().end) continue;
      while (phase != phases.end() && phase->end <= piece.begin) ++phase;
      for (auto part = phase; part != phases.end() && part->begin < piece.end; ++part) {
        Slice cut = piece;
        cut.begin = std::max(piece.begin, part->begin);
        cut.end = std::min(piece.end, part->end);
        if (cut.begin >= cut.end) continue;
        cut.step = number;
        compute_.slices.push_back(std::move(cut));
      }
    }
  }

  void add(SliceKind kind, const std::string& name, const TimeRanges& ranges, int number) {
    for (const TimeRange& range : ranges) {
      compute_.slices.push_back(
          {.kind = kind, .name = name, .begin = range.begin, .end = range.end, .step = number});
    }
  }

  const RankFile& file_;
  const int device_;
  const bool is_gpu_;
  const Marks marks_;
  std::vector<Slice> pieces_{};
  TimeRanges work_{};
  TimeRanges communication_{};
  Track compute_{};
  std::map<std::int64_t, Track> comm_{};
};

std::vector<int> devices_of(const RankFile& file) {
  std::vector<int> devices;
  for (const auto* events : {&file.kernels, &file.gpu_collectives}) {
    for (const KinetoEvent& event : *events) devices.push_back(event.device);
  }
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

Process process_of(const RankFile& file) {
  Process process{.rank = file.rank, .host = "torch"};
  if (file.has_gpus()) process.cuda_times = "torch's profiler";
  for (const int device : devices_of(file)) DeviceMaker(file, device, true).add_to(process);
  if (!file.has_gpus()) DeviceMaker(file, file.rank, false).add_to(process);
  return process;
}

// Counts times from the earliest: those of the profiler are since 1970.
void count_from_earliest(std::vector<Process>& processes) {
  Nanoseconds earliest = Nanoseconds::max();
  for (const Process& process : processes) {
    for (const Track& track : process.tracks) {
      for (const Slice& slice : track.slices) earliest = std::min(earliest, slice.begin);
    }
  }
  for (Process& process : processes) {
    for (Track& track : process.tracks) {
      for (Slice& slice : track.slices) {
        slice.begin -= earliest;
        slice.end -= earliest;
      }
    }
  }
}

}  // namespace

Trace parse_kineto(const std::vector<KinetoSource>& sources) {
  std::vector<RankFile> files;
  for (const KinetoSource& source : sources) {
    files.push_back(read_kineto_file(source, sources.size() == 1));
  }
  check_one_run(files);
  check_all_ranks(files);
  std::ranges::sort(files, {}, &RankFile::rank);
  Trace trace;
  std::size_t devices = 0;
  for (const RankFile& file : files) {
    trace.processes.push_back(process_of(file));
    devices += std::max<std::size_t>(1, devices_of(file).size());
  }
  match_collectives(trace);
  count_from_earliest(trace.processes);
  const RankFile& first = files.front();
  const bool is_ddp = first.ranks > 1;
  // One process without a rank is of DataParallel where it has several GPUs.
  const std::string one_process = devices > 1 ? "dp" : "single";
  trace.facts = {{"strategy", is_ddp ? "ddp" : one_process},
                 {"launch", is_ddp ? "processes" : "threads"},
                 {"model", "a module of PyTorch"},
                 {"devices", std::to_string(devices)},
                 {"batch", "not told"},
                 {"backend", first.has_gpus() ? "cuda" : "host"},
                 {"transport", first.backend.empty() ? "none" : first.backend},
                 {"profiler", fmt::format("torch's, schemaVersion {}", kSchema)},
                 {"clock", "torch's profiler's, taken as one of all ranks"}};
  return trace;
}

}  // namespace tandem::timeline
