// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "common/json/writer.h"
#include "common/timeline/kineto.h"
#include "common/timeline/summary.h"

namespace tandem::timeline {
namespace {

constexpr int kHostPid = 1'000'000;  // device pids are the devices' numbers
constexpr int kFirstStream = 7;      // torch's default stream in its traces
constexpr int kMostRanks = 1024;

bool is_simulated(const Trace& trace) { return fact(trace, "backend") == "simulated"; }

bool has_gpu_slices(const Trace& trace) {
  for (const Process& process : trace.processes) {
    for (const Track& track : process.tracks) {
      if (std::ranges::any_of(track.slices, is_of_gpu, &Slice::kind)) return true;
    }
  }
  return false;
}

// Whether the slice is what a GPU ran: kernels and memory operations where a GPU told of them, else
// a simulated device's operations, copies and collectives.
bool ran(const Slice& slice, bool is_told) {
  if (is_told) return is_of_gpu(slice.kind);
  return slice.kind == SliceKind::kOperation || slice.kind == SliceKind::kCopy ||
         slice.kind == SliceKind::kCollective;
}

// "AllReduce" of "all_reduce".
std::string in_camel_case(std::string_view name) {
  std::string text;
  bool is_upper = true;
  for (const char c : name) {
    const bool is_lower = c >= 'a' && c <= 'z';  // in ASCII, whatever the locale
    if (c != '_') text += is_upper && is_lower ? static_cast<char>(c - 'a' + 'A') : c;
    is_upper = c == '_';
  }
  return text;
}

// Torch's names of what CUPTI calls a copy or a set of memory, by the names in a trace.
struct MemoryName {
  std::string_view in_trace;
  std::string_view in_torch;
};
constexpr std::array kMemoryNames{MemoryName{"copy from host", "Memcpy HtoD"},
                                  MemoryName{"copy to host", "Memcpy DtoH"},
                                  MemoryName{"copy on device", "Memcpy DtoD"},
                                  MemoryName{"copy to peer", "Memcpy PtoP"},
                                  MemoryName{"copy", "Memcpy"},
                                  MemoryName{"set", "Memset"}};

std::string memory_name(const std::string& name) {
  const auto* const found = std::ranges::find(kMemoryNames, name, &MemoryName::in_trace);
  return std::string(found == kMemoryNames.end() ? "Memcpy" : found->in_torch);
}

// Names by which readers of such traces tell communication and copies from computation.
std::string name_of(const Slice& slice) {
  if (slice.kind == SliceKind::kCollective) {
    const std::string name = slice.index >= 0 ? "AllReduce" : in_camel_case(slice.name);
    return fmt::format("ncclDevKernel_{} (simulated)", name);
  }
  if (slice.kind == SliceKind::kCopy) return "Memcpy (simulated)";
  if (slice.kind == SliceKind::kMemory) return memory_name(slice.name);
  return slice.name;
}

const char* category_of(const Slice& slice) {
  if (slice.kind == SliceKind::kCopy) return "gpu_memcpy";
  if (slice.kind != SliceKind::kMemory) return "kernel";
  return slice.name == "set" ? "gpu_memset" : "gpu_memcpy";
}

// Writes one rank's file.
class KinetoWriter {
 public:
  KinetoWriter(const Trace& trace, const Process& process, int rank, int ranks, bool is_told)
      : trace_(trace), process_(process), rank_(rank), ranks_(ranks), is_told_(is_told) {}

  std::string written() && {
    json_.open("", '{');
    json_.value("schemaVersion", 1);
    write_devices();
    json_.open("distributedInfo", '{');
    json_.value("backend", "nccl");
    json_.value("rank", rank_);
    json_.value("world_size", ranks_);
    json_.close();
    json_.value("displayTimeUnit", "ms");
    json_.value("tandem", subject_of(trace_));
    json_.open("traceEvents", '[');
    name_processes();
    int stream = kFirstStream;
    for (const Track& track : process_.tracks) {
      if (track.device == kNoDevice) continue;
      for (const Slice& slice : track.slices) write(track.device, stream, slice);
      ++stream;
    }
    json_.close();
    json_.close();
    // Readers look for the rank in the text, with the blank that torch's files have.
    constexpr std::string_view kRank = "\"rank\":";
    text_.insert(text_.find(kRank) + kRank.size(), " ");
    return std::move(text_) + "\n";
  }

 private:
  void write_devices() {
    json_.open("deviceProperties", '[');
    for (const int device : devices()) {
      json_.open("", '{');
      json_.value("id", device);
      json_.value("name", with_origin(fact(trace_, is_simulated(trace_) ? "hardware" : "backend")));
      json_.close();
    }
    json_.close();
  }

  [[nodiscard]] std::vector<int> devices() const {
    std::vector<int> found;
    for (const Track& track : process_.tracks) {
      const bool is_new = std::ranges::find(found, track.device) == found.end();
      if (track.device != kNoDevice && is_new) found.push_back(track.device);
    }
    return found;
  }

  void name_processes() {
    name_process(kHostPid + rank_, fmt::format("rank {}", rank_));
    for (const int device : devices()) {
      name_process(device, with_origin(fmt::format("GPU {}", device)));
    }
  }

  // Readers show these names beside kernels, which must not pass for measured ones.
  [[nodiscard]] std::string with_origin(const std::string& name) const {
    return is_simulated(trace_) ? name + " (simulated)" : name;
  }

  void name_process(int pid, const std::string& name) {
    json_.open("", '{');
    json_.value("ph", "M");
    json_.value("name", "process_name");
    json_.value("pid", pid);
    json_.value("tid", 0);
    json_.value("ts", 0.0);
    json_.open("args", '{');
    json_.value("name", name);
    json_.close();
    json_.close();
  }

  void write(int device, int stream, const Slice& slice) {
    if (ran(slice, is_told_)) return write_kernel(device, stream, slice);
    if (slice.kind == SliceKind::kStep) {
      return write_range("user_annotation", fmt::format("step {}", slice.step), kHostPid + rank_,
                         kHostPid + rank_, slice);
    }
    if (slice.kind == SliceKind::kPhase) {
      write_range("gpu_user_annotation", slice.name, device, stream, slice);
    }
  }

  void write_range(const char* category, const std::string& name, int pid, int tid,
                   const Slice& slice) {
    open_event(category, name, pid, tid, slice);
    json_.close();
    json_.close();
  }

  void write_kernel(int device, int stream, const Slice& slice) {
    open_event(category_of(slice), name_of(slice), device, stream, slice);
    json_.value("device", device);
    json_.value("stream", stream);
    json_.value("correlation", ++correlation_);
    if (slice.size > Bytes{0}) json_.value("bytes", slice.size.value);
    if (!slice.layer.empty()) json_.value("layer", slice.layer);
    if (slice.graph_node > 0) json_.value("graph node id", slice.graph_node);
    json_.close();
    json_.close();
  }

  // Opens an event and its arguments.
  void open_event(const char* category, const std::string& name, int pid, int tid,
                  const Slice& slice) {
    const auto microseconds = [](Nanoseconds time) {
      return static_cast<double>(time.count()) / 1000;
    };
    json_.open("", '{');
    json_.value("ph", "X");
    json_.value("cat", category);
    json_.value("name", name);
    json_.value("pid", pid);
    json_.value("tid", tid);
    json_.value("ts", microseconds(slice.begin));
    json_.value("dur", microseconds(slice.length()));
    json_.open("args", '{');
    if (slice.step > 0) json_.value("step", slice.step);
  }

  const Trace& trace_;
  const Process& process_;
  const int rank_;
  const int ranks_;
  const bool is_told_;
  int correlation_ = 0;
  std::string text_{};
  JsonWriter json_{text_};
};

}  // namespace

std::vector<KinetoFile> to_kineto(const Trace& trace, const std::string& source) {
  const bool is_told = has_gpu_slices(trace);
  if (!is_told && !is_simulated(trace)) {
    fail(ErrorKind::kUsage,
         "{}: its devices are of back end {} and it has no GPU kernels, which such a file consists "
         "of: export a trace of GPUs whose kernels CUPTI told, or one of --backend=simulated",
         source, fact(trace, "backend"));
  }
  int ranks = 0;
  for (const Process& process : trace.processes) {
    ranks = std::max(ranks, process.rank + process.count.value_or(1));
  }
  if (ranks > kMostRanks) {
    fail(ErrorKind::kUsage, "{}: it is of {} ranks, and at most {} files are written: trace fewer",
         source, ranks, kMostRanks);
  }
  std::vector<KinetoFile> files;
  for (const Process& process : trace.processes) {
    for (int rank = process.rank; rank < process.rank + process.count.value_or(1); ++rank) {
      files.push_back(
          {.rank = rank, .text = KinetoWriter(trace, process, rank, ranks, is_told).written()});
    }
  }
  return files;
}

}  // namespace tandem::timeline
