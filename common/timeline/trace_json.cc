// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/timeline/trace_fields.h"

namespace tandem::timeline {
namespace {

constexpr int kMostTracks = 1000;  // limit of tracks per process

Nanoseconds earliest(const Trace& trace) {
  Nanoseconds first = Nanoseconds::max();
  for (const Process& process : trace.processes) {
    for (const Track& track : process.tracks) {
      for (const Slice& slice : track.slices) first = std::min(first, slice.begin);
    }
  }
  return first == Nanoseconds::max() ? Nanoseconds{0} : first;
}

// The pid of a process is never 0: viewers take 0 for the idle process and its thread.
int pid_of(const Process& process) { return process.rank + 1; }
int tid_of(const Process& process, std::size_t track) {
  return pid_of(process) * kMostTracks + static_cast<int>(track) + 1;
}

// An event in one line. Events without a time come first.
struct TraceEvent {
  double time = -std::numeric_limits<double>::infinity();
  std::string line{};
};

// Writes the events of one process. `arrows` counts the arrows of all processes.
class Writer {
 public:
  Writer(const Process& process, Nanoseconds origin, int& arrows, std::vector<TraceEvent>& events)
      : process_(process), origin_(origin), arrows_(arrows), events_(events) {}

  void write() {
    name_process();
    for (std::size_t track = 0; track < process_.tracks.size(); ++track) write_track(track);
    for (const Bucket& bucket : process_.buckets) write_flow(bucket);
  }

 private:
  [[nodiscard]] double microseconds(Nanoseconds time) const {
    return static_cast<double>(time.count()) / 1000;
  }
  [[nodiscard]] double at(Nanoseconds time) const { return microseconds(time - origin_); }

  // Adds an event; `write` writes what follows the members of every event.
  template <class Write>
  void add(const char* what, const std::string& name, int tid, Write write) {
    TraceEvent& event = events_.emplace_back();
    JsonWriter json(event.line);
    json.open("", '{');
    json.value("ph", what);
    json.value("name", name);
    json.value("pid", pid_of(process_));
    json.value("tid", tid);
    write(json);
    json.close();
  }

  // Adds an event of a category, which has a time.
  template <class Write>
  void add_at(Nanoseconds time, const char* what, const std::string& name, int tid, Write write) {
    add(what, name, tid, write);
    events_.back().time = at(time);
  }

  // Adds an event that says something of a process or thread by `write`'s members of its arguments.
  template <class Write>
  void add_facts(const std::string& name, int tid, Write write) {
    add("M", name, tid, [&](JsonWriter& json) {
      json.open("args", '{');
      write(json);
      json.close();
    });
  }

  void name_process() {
    add_facts("process_name", 0, [&](JsonWriter& json) {
      json.value("name", fmt::format("{} on {}", ranks_text(process_), process_.host));
      write_fields(json, process_);
      if (process_.cuda_times.empty()) return;
      json.value("cuda_times", process_.cuda_times);
      json.value("lost_records", process_.lost_records);
    });
    add_facts("process_sort_index", 0,
              [&](JsonWriter& json) { json.value("sort_index", process_.rank); });
  }

  void write_track(std::size_t index) {
    const Track& track = process_.tracks[index];
    const int tid = tid_of(process_, index);
    const bool is_of_device = track.device != kNoDevice;
    add_facts("thread_name", tid, [&](JsonWriter& json) {
      json.value("name",
                 is_of_device ? fmt::format("device {} {}", track.device, track.name) : track.name);
      json.value("device", track.device);
      json.value("role", track.name);
    });
    add_facts("thread_sort_index", tid, [&](JsonWriter& json) { json.value("sort_index", index); });
    for (const Slice& slice : track.slices) write_slice(slice, tid);
    if (!is_compute(track)) return;
    for (const Bucket& bucket : process_.buckets) {
      if (bucket.device != track.device) continue;
      write_moment(bucket, bucket.ready, "ready", tid);
      write_moment(bucket, bucket.back, "back", tid);
    }
  }

  void write_slice(const Slice& slice, int tid) {
    add_at(slice.begin, "X", slice.name, tid, [&](JsonWriter& json) {
      json.value("cat", kKindNames[static_cast<std::size_t>(slice.kind)]);
      json.value("ts", at(slice.begin));
      json.value("dur", microseconds(slice.length()));
      json.open("args", '{');
      write_arguments(json, slice);
      json.close();
    });
  }

  void write_arguments(JsonWriter& json, const Slice& slice) const {
    if (slice.step > 0) json.value("step", slice.step);
    if (!slice.layer.empty()) json.value("layer", slice.layer);
    if (slice.size > Bytes{0}) json.value("bytes", slice.size.value);
    if (slice.copies > 1) json.value("copies", slice.copies);
    if (slice.index >= 0) json.value("bucket", slice.index);
    if (slice.sequence >= 0) json.value("sequence", slice.sequence);
    if (!slice.arrival) return;
    json.value("arrival_skew_us", microseconds(slice.arrival->skew));
    json.value("waited_for_last_us", microseconds(slice.arrival->waited));
    json.value("last_rank", slice.arrival->last_rank);
    json.value("last_device", slice.arrival->last_device);
  }

  void write_moment(const Bucket& bucket, const std::optional<Nanoseconds>& time, const char* what,
                    int tid) {
    if (!time) return;
    const std::string name = fmt::format("bucket {} {}", bucket.index, what);
    add_at(*time, "i", name, tid, [&](JsonWriter& json) {
      json.value("cat", "bucket");
      json.value("s", "t");
      json.value("ts", at(*time));
      json.open("args", '{');
      json.value("step", bucket.step);
      json.value("bucket", bucket.index);
      json.value("what", what);
      json.close();
    });
  }

  void write_flow(const Bucket& bucket) {
    const Slice* collective = nullptr;
    int tid = 0;
    int compute = 0;
    for (std::size_t index = 0; index < process_.tracks.size(); ++index) {
      const Track& track = process_.tracks[index];
      if (track.device != bucket.device) continue;
      if (is_compute(track)) compute = tid_of(process_, index);
      const auto found = std::ranges::find_if(track.slices, [&](const Slice& slice) {
        return slice.kind == SliceKind::kCollective && slice.step == bucket.step &&
               slice.index == bucket.index;
      });
      if (found == track.slices.end()) continue;
      collective = &*found;
      tid = tid_of(process_, index);
    }
    if (collective == nullptr || !bucket.ready || !bucket.back) return;
    ++arrows_;
    write_arrow("s", compute, *bucket.ready);
    write_arrow("t", tid, collective->begin);
    write_arrow("f", compute, *bucket.back);
  }

  void write_arrow(const char* what, int tid, Nanoseconds time) {
    add_at(time, what, "bucket", tid, [&](JsonWriter& json) {
      json.value("cat", "bucket");
      json.value("id", arrows_);  // Perfetto draws only arrows whose ids are numbers
      json.value("ts", at(time));
      json.value("bp", "e");  // the arrow is bound to the enclosing slice
    });
  }

  [[nodiscard]] static bool is_compute(const Track& track) { return track.name == "compute"; }
  [[nodiscard]] static std::string ranks_text(const Process& process) {
    if (!process.count) return fmt::format("rank {}", process.rank);
    return fmt::format("ranks {} to {}", process.rank, process.rank + *process.count - 1);
  }

  const Process& process_;
  const Nanoseconds origin_;
  int& arrows_;
  std::vector<TraceEvent>& events_;
};

std::string facts_of(const Trace& trace, Nanoseconds origin) {
  std::string text;
  JsonWriter json(text);
  json.open("", '{');
  json.value("tandem_trace", kTraceVersion);
  json.value("origin_ns", origin.count());
  for (const auto& [name, value] : trace.facts) json.value(name, value);
  write_json(json, "untraced", trace.untraced);
  json.close();
  return text;
}

}  // namespace

std::string to_json(const Trace& trace) {
  const Nanoseconds origin = earliest(trace);
  std::vector<TraceEvent> events;
  int arrows = 0;
  for (const Process& process : trace.processes) Writer(process, origin, arrows, events).write();
  // A thread's events come by time, as viewers want.
  std::ranges::stable_sort(events, {}, &TraceEvent::time);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":" + facts_of(trace, origin) +
                     ",\"traceEvents\":[\n";
  for (const TraceEvent& event : events) {
    if (&event != &events.front()) text += ",\n";
    text += event.line;
  }
  return text + "\n]}\n";
}

}  // namespace tandem::timeline
