// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace tandem::timeline {
namespace {

using OrderedJson = nlohmann::ordered_json;

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

// Writes the events of one process. `arrows` counts the arrows of all processes.
class Writer {
 public:
  Writer(const Process& process, Nanoseconds origin, int& arrows, OrderedJson& events)
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

  OrderedJson& add(const char* what, const std::string& name, int tid) {
    events_.push_back({{"ph", what}, {"name", name}, {"pid", pid_of(process_)}, {"tid", tid}});
    return events_.back();
  }

  void name_process() {
    add("M", "process_name", 0)["args"] = {
        {"name", fmt::format("rank {} on {}", process_.rank, process_.host)},
        {"rank", process_.rank},
        {"host", process_.host},
        {"clock_offset_ns", process_.clock_offset.count()},
        {"clock_drift", process_.clock_drift},
        {"clock_error_ns", process_.clock_error.count()}};
    if (process_.cuda_times.empty()) return name_order();
    events_.back()["args"]["cuda_times"] = process_.cuda_times;
    events_.back()["args"]["lost_records"] = process_.lost_records;
    name_order();
  }

  void name_order() { add("M", "process_sort_index", 0)["args"] = {{"sort_index", process_.rank}}; }

  void write_track(std::size_t index) {
    const Track& track = process_.tracks[index];
    const int tid = tid_of(process_, index);
    const bool is_of_device = track.device != kNoDevice;
    const std::string name =
        is_of_device ? fmt::format("device {} {}", track.device, track.name) : track.name;
    add("M", "thread_name", tid)["args"] = {
        {"name", name}, {"device", track.device}, {"role", track.name}};
    add("M", "thread_sort_index", tid)["args"] = {{"sort_index", index}};
    for (const Slice& slice : track.slices) write_slice(slice, tid);
    if (is_compute(track)) {
      for (const Bucket& bucket : process_.buckets) {
        if (bucket.device == track.device) write_moments(bucket, tid);
      }
    }
  }

  void write_slice(const Slice& slice, int tid) {
    OrderedJson& event = add("X", slice.name, tid);
    event["cat"] = kKindNames[static_cast<std::size_t>(slice.kind)];
    event["ts"] = at(slice.begin);
    event["dur"] = microseconds(slice.length());
    event["args"] = arguments(slice);
  }

  [[nodiscard]] OrderedJson arguments(const Slice& slice) const {
    OrderedJson arguments = OrderedJson::object();
    if (slice.step > 0) arguments["step"] = slice.step;
    if (!slice.layer.empty()) arguments["layer"] = slice.layer;
    if (slice.size > Bytes{0}) arguments["bytes"] = slice.size.value;
    if (slice.copies > 1) arguments["copies"] = slice.copies;
    if (slice.index >= 0) arguments["bucket"] = slice.index;
    if (slice.sequence >= 0) arguments["sequence"] = slice.sequence;
    if (slice.graph_node > 0) arguments["graph_node"] = slice.graph_node;
    if (!slice.arrival) return arguments;
    arguments["arrival_skew_us"] = microseconds(slice.arrival->skew);
    arguments["waited_for_last_us"] = microseconds(slice.arrival->waited);
    arguments["last_rank"] = slice.arrival->last_rank;
    arguments["last_device"] = slice.arrival->last_device;
    return arguments;
  }

  void write_moments(const Bucket& bucket, int tid) {
    const auto write = [&](const std::optional<Nanoseconds>& time, const char* what) {
      if (!time) return;
      OrderedJson& event = add("i", fmt::format("bucket {} {}", bucket.index, what), tid);
      event["cat"] = "bucket";
      event["s"] = "t";
      event["ts"] = at(*time);
      event["args"] = {{"step", bucket.step}, {"bucket", bucket.index}, {"what", what}};
    };
    write(bucket.ready, "ready");
    write(bucket.back, "back");
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
        return slice.kind == Kind::kCollective && slice.step == bucket.step &&
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
    OrderedJson& event = add(what, "bucket", tid);
    event["cat"] = "bucket";
    event["id"] = arrows_;  // Perfetto draws only arrows whose ids are numbers
    event["ts"] = at(time);
    event["bp"] = "e";  // the arrow is bound to the enclosing slice
  }

  [[nodiscard]] static bool is_compute(const Track& track) { return track.name == "compute"; }

  const Process& process_;
  const Nanoseconds origin_;
  int& arrows_;
  OrderedJson& events_;
};

OrderedJson json_of(const LaunchFigures& figures) {
  OrderedJson phases = OrderedJson::object();
  for (const auto& [name, time] : figures.phases) phases[name] = time.count();
  return {{"samples", figures.samples},
          {"has_root", figures.has_root},
          {"step_seconds", figures.step.count()},
          {"phase_seconds", phases},
          {"least_exposed_seconds", figures.least_exposed.count()},
          {"least_compute_seconds", figures.least_compute.count()},
          {"collective_seconds", figures.collectives.count()}};
}

// Sorts a thread's events by time, as viewers want; events without a time come first.
void sort_by_time(OrderedJson& events) {
  const auto time = [](const OrderedJson& event) {
    return event.contains("ts") ? event["ts"].get<double>()
                                : -std::numeric_limits<double>::infinity();
  };
  std::stable_sort(events.begin(), events.end(),
                   [&](const OrderedJson& a, const OrderedJson& b) { return time(a) < time(b); });
}

}  // namespace

std::string to_json(const Trace& trace) {
  const Nanoseconds origin = earliest(trace);
  OrderedJson events = OrderedJson::array();
  int arrows = 0;
  for (const Process& process : trace.processes) Writer(process, origin, arrows, events).write();
  sort_by_time(events);
  OrderedJson facts = OrderedJson::object();
  facts["tandem_trace"] = "1.2.0";
  facts["origin_ns"] = origin.count();
  for (const auto& [name, value] : trace.facts) facts[name] = value;
  if (trace.untraced) facts["untraced"] = json_of(*trace.untraced);
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":" + facts.dump() + ",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    text += (i == 0 ? "" : ",\n") + events[i].dump();
  }
  return text + "\n]}\n";
}

}  // namespace tandem::timeline
