// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/base/error.h"
#include "common/base/json_text.h"
#include "common/timeline/clocks.h"
#include "common/timeline/trace_json.h"

namespace tandem::timeline {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMajor = "1.";

// The latest time, some 30 years: sums of such times do not overflow.
constexpr std::int64_t kLatest = 1'000'000'000'000'000'000;

Nanoseconds nanoseconds(double count) {
  if (!(count >= 0 && count <= static_cast<double>(kLatest))) throw std::out_of_range("a time");
  return Nanoseconds{std::llround(count)};
}

Nanoseconds duration(const Json& microseconds) {
  return nanoseconds(microseconds.get<double>() * 1000);
}

Kind kind_of(const std::string& name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  throw std::out_of_range("a category");
}

// The format's version, where the document claims to be a trace at all.
std::optional<std::string> version_of(const Json& document) {
  if (!document.is_object()) return std::nullopt;
  const auto facts = document.find("otherData");
  if (facts == document.end() || !facts->is_object()) return std::nullopt;
  const auto version = facts->find("tandem_trace");
  if (version == facts->end() || !version->is_string()) return std::nullopt;
  return version->get<std::string>();
}

void check_version(const Json& document, const std::string& source) {
  const auto version = version_of(document);
  if (!version) {
    fail(ErrorKind::kUsage,
         "{}: it is JSON, but no trace of step_bench --trace, which says so in "
         "otherData.tandem_trace: record one with tandem profile timeline",
         source);
  }
  if (!version->starts_with(kMajor)) {
    fail(ErrorKind::kUsage, "{}: a trace of version {}, and this tandem reads 1: use a newer one",
         source, *version);
  }
}

LaunchFigures figures_of(const Json& untraced) {
  LaunchFigures figures{.samples = untraced.at("samples"),
                        .has_root = untraced.at("has_root"),
                        .step = Seconds{untraced.at("step_seconds").get<double>()}};
  for (const auto& [name, time] : untraced.at("phase_seconds").items()) {
    figures.phases[name] = Seconds{time.get<double>()};
  }
  figures.least_exposed = Seconds{untraced.at("least_exposed_seconds").get<double>()};
  figures.least_compute = Seconds{untraced.at("least_compute_seconds").get<double>()};
  figures.collectives = Seconds{untraced.at("collective_seconds").get<double>()};
  return figures;
}

// Reads a trace's events, in which names come before the things named. Throws standard exceptions
// where an event is not as to_json writes events.
class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) {}

  // The place of the event that is being read.
  [[nodiscard]] std::string place() const {
    return events_ == 0 ? "otherData" : fmt::format("event {} of traceEvents", events_);
  }

  void read(const Json& document) {
    const Json& facts = document.at("otherData");
    origin_ = nanoseconds(facts.at("origin_ns").get<double>());
    for (const auto& [name, value] : facts.items()) {
      if (name == "untraced") {
        trace_.untraced = figures_of(value);
      } else if (name != "tandem_trace" && name != "origin_ns") {
        trace_.facts[name] = value;
      }
    }
    for (const Json& event : document.at("traceEvents")) {
      ++events_;
      take(event);
    }
    for (Process& process : trace_.processes) {
      for (Track& track : process.tracks) sort_slices(track);
    }
  }

 private:
  void take(const Json& event) {
    const std::string what = event.at("ph");
    if (what == "M") return take_name(event);
    if (what == "X") return take_slice(event);
    if (what == "i") return take_moment(event);
  }

  void take_name(const Json& event) {
    const int pid = event.at("pid");
    const Json& args = event.at("args");
    if (event.at("name") == "process_name") {
      processes_[pid] = trace_.processes.size();
      trace_.processes.push_back({.rank = args.at("rank"),
                                  .host = args.at("host"),
                                  .clock_offset = Nanoseconds{args.at("clock_offset_ns")},
                                  .clock_drift = args.at("clock_drift"),
                                  .clock_error = Nanoseconds{args.at("clock_error_ns")},
                                  .cuda_times = args.value("cuda_times", ""),
                                  .lost_records = args.value("lost_records", std::int64_t{0})});
    } else if (event.at("name") == "thread_name") {
      std::vector<Track>& tracks = process_of(event).tracks;
      tracks_[event.at("tid")] = tracks.size();
      tracks.push_back({.device = args.at("device"), .name = args.at("role")});
    }
  }

  void take_slice(const Json& event) {
    const Json& args = event.at("args");
    Slice slice{.kind = kind_of(event.at("cat")), .name = event.at("name")};
    slice.begin = origin_ + duration(event.at("ts"));
    slice.end = slice.begin + duration(event.at("dur"));
    slice.step = args.value("step", 0);
    slice.layer = args.value("layer", "");
    slice.index = args.value("bucket", -1);
    slice.sequence = args.value("sequence", -1);
    slice.copies = args.value("copies", 1);
    slice.graph_node = args.value("graph_node", std::uint64_t{0});
    slice.size = Bytes{args.value("bytes", std::int64_t{0})};
    if (args.contains("last_rank")) {
      slice.arrival =
          Arrival{duration(args.at("arrival_skew_us")), duration(args.at("waited_for_last_us")),
                  args.at("last_rank"), args.at("last_device")};
    }
    track_of(event).slices.push_back(std::move(slice));
  }

  void take_moment(const Json& event) {
    const Json& args = event.at("args");
    const int device = track_of(event).device;
    Bucket& bucket = bucket_of(process_of(event), device, args.at("step"), args.at("bucket"));
    (args.at("what") == "ready" ? bucket.ready : bucket.back) = origin_ + duration(event.at("ts"));
  }

  static Bucket& bucket_of(Process& process, int device, int step, int index) {
    for (Bucket& bucket : process.buckets) {
      if (bucket.device == device && bucket.step == step && bucket.index == index) return bucket;
    }
    return process.buckets.emplace_back(Bucket{.device = device, .step = step, .index = index});
  }

  Process& process_of(const Json& event) {
    return trace_.processes.at(processes_.at(event.at("pid")));
  }
  Track& track_of(const Json& event) {
    return process_of(event).tracks.at(tracks_.at(event.at("tid")));
  }

  Trace& trace_;
  int events_ = 0;  // number of events begun so far
  Nanoseconds origin_{0};
  std::map<int, std::size_t> processes_;  // index of a process by pid
  std::map<int, std::size_t> tracks_;     // index of a track by tid, which no two processes share
};

// Throws a usage error for any defect: a trace is never mended.
void check_text(const std::string& text, const std::string& source) {
  if (text.empty()) {
    fail(ErrorKind::kUsage, "{}: it is empty, as a trace is not: record it again", source);
  }
  try {
    check_json(text, source);
  } catch (const Error& error) {
    fail(ErrorKind::kUsage, "{}, or record it again where it was cut off", error.what());
  }
}

}  // namespace

Trace parse_trace(const std::string& text, const std::string& source) {
  check_text(text, source);
  const Json document = Json::parse(text);
  check_version(document, source);
  Trace trace;
  Reader reader(trace);
  try {
    reader.read(document);
  } catch (const std::exception&) {  // of the JSON library and of maps, in their own words
    fail(ErrorKind::kUsage,
         "{}: a trace, but {} is not as step_bench --trace writes it: it was changed since; record "
         "it again",
         source, reader.place());
  }
  return trace;
}

}  // namespace tandem::timeline
