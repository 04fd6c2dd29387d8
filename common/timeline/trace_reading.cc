// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/json_text.h"
#include "common/timeline/merge.h"
#include "common/timeline/trace_json.h"

namespace tandem::timeline {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMajor = "1.";

Nanoseconds duration(const Json& microseconds) {
  return Nanoseconds{std::llround(microseconds.get<double>() * 1000)};
}

Kind kind_of(const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<Kind>(i);
  }
  fail(ErrorKind::kUsage, "{}: '{}' is no category of a trace of step_bench --trace", source, name);
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

// Reads a trace's events, of which names come before what they name.
class Reader {
 public:
  Reader(std::string source, Trace& trace) : source_(std::move(source)), trace_(trace) {}

  void read(const Json& document) {
    const Json& facts = document.at("otherData");
    const std::string version = facts.at("tandem_trace");
    if (!version.starts_with(kMajor)) {
      fail(ErrorKind::kUsage, "{}: a trace of version {}, and this tandem reads 1: use a newer one",
           source_, version);
    }
    origin_ = Nanoseconds{facts.at("origin_ns").get<std::int64_t>()};
    for (const auto& [name, value] : facts.items()) {
      if (name == "untraced") {
        trace_.untraced = figures_of(value);
      } else if (name != "tandem_trace" && name != "origin_ns") {
        trace_.facts[name] = value;
      }
    }
    for (const Json& event : document.at("traceEvents")) take(event);
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
                                  .clock_error = Nanoseconds{args.at("clock_error_ns")}});
    } else if (event.at("name") == "thread_name") {
      std::vector<Track>& tracks = process_of(event).tracks;
      tracks_[event.at("tid")] = tracks.size();
      tracks.push_back({.device = args.at("device"), .name = args.at("role")});
    }
  }

  void take_slice(const Json& event) {
    const Json& args = event.at("args");
    Slice slice{.kind = kind_of(event.at("cat"), source_), .name = event.at("name")};
    slice.begin = origin_ + duration(event.at("ts"));
    slice.end = slice.begin + duration(event.at("dur"));
    slice.step = args.value("step", 0);
    slice.layer = args.value("layer", "");
    slice.index = args.value("bucket", -1);
    slice.sequence = args.value("sequence", -1);
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

  const std::string source_;
  Trace& trace_;
  Nanoseconds origin_{0};
  std::map<int, std::size_t> processes_;  // by pid
  std::map<int, std::size_t> tracks_;     // by tid, which no two processes share
};

}  // namespace

Trace parse_trace(const std::string& text, const std::string& source) {
  check_json(text, source);
  Trace trace;
  try {
    Reader(source, trace).read(Json::parse(text));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // of the JSON library, and of maps
    fail(ErrorKind::kUsage, "{}: no trace of step_bench --trace: {}", source, error.what());
  }
  return trace;
}

}  // namespace tandem::timeline
