// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "common/timeline/trace_fields.h"
#include "common/timeline/trace_json.h"
#include "common/timeline/tracks.h"

namespace tandem::timeline {
namespace {

constexpr std::string_view kMajor = "2.";

// The latest time in nanoseconds, some 30 years: sums of such times do not overflow.
constexpr double kLatest = 1e18;

Nanoseconds nanoseconds(const JsonValue& count) {
  return Nanoseconds{std::llround(count.number({0, kLatest}))};
}

Nanoseconds duration(const JsonValue& microseconds) {
  return Nanoseconds{std::llround(microseconds.number({0, kLatest / 1000}) * 1000)};
}

template <class T>
T value_at(const JsonValue& object, std::string_view key) {
  return read_as<T>(object.at(key));
}

JsonValue arguments(const JsonValue& event) {
  const JsonValue args = event.at("args");
  args.expect_object();
  return args;
}

void check_version(const JsonValue& document) {
  const auto facts = document.find("otherData");
  const auto version = facts ? facts->find("tandem_trace") : std::nullopt;
  if (!version || !version->is_text()) {
    document.complain(
        "it is JSON, but no trace of step_bench trace, which says so in otherData.tandem_trace: "
        "record one with tandem trace record");
  }
  if (!version->text().starts_with(kMajor)) {
    document.complain(fmt::format("a trace of version {}, and this tandem reads 2: record it anew",
                                  version->line(32)));
  }
}

// Reads a trace's events, in which names come before the things named. Complains where an event is
// not as to_json writes events.
class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) {}

  void read(const JsonValue& document) {
    const JsonValue facts = document.at("otherData");
    origin_ = nanoseconds(facts.at("origin_ns"));
    for (const JsonValue fact : facts) {
      const std::string_view name = fact.key();
      if (name == "untraced") {
        trace_.untraced = read_as<UntracedSamples>(fact);
      } else if (name != "tandem_trace" && name != "origin_ns") {
        trace_.facts[std::string(name)] = fact.text();
      }
    }
    for (const JsonValue event : document.at("traceEvents")) take(event);
    for (Process& process : trace_.processes) {
      for (Track& track : process.tracks) sort_slices(track);
    }
  }

 private:
  void take(const JsonValue& event) {
    const std::string_view what = event.at("ph").text();
    if (what == "M") return take_name(event);
    if (what == "X") return take_slice(event);
    if (what == "i") return take_moment(event);
  }

  void take_name(const JsonValue& event) {
    const JsonValue args = arguments(event);
    const std::string_view name = event.at("name").text();
    if (name == "process_name") {
      processes_[value_at<int>(event, "pid")] = trace_.processes.size();
      Process process = read_as<Process>(args);
      process.cuda_times = value_or(args, "cuda_times", std::string());
      process.lost_records = value_or(args, "lost_records", std::int64_t{0});
      trace_.processes.push_back(std::move(process));
    } else if (name == "thread_name") {
      std::vector<Track>& tracks = process_of(event).tracks;
      tracks_[value_at<int>(event, "tid")] = tracks.size();
      tracks.push_back(
          {.device = value_at<int>(args, "device"), .name = value_at<std::string>(args, "role")});
    }
  }

  void take_slice(const JsonValue& event) {
    const JsonValue args = arguments(event);
    Slice slice{.kind = static_cast<SliceKind>(event.at("cat").one_of(kKindNames)),
                .name = value_at<std::string>(event, "name")};
    slice.begin = origin_ + duration(event.at("ts"));
    slice.end = slice.begin + duration(event.at("dur"));
    slice.step = value_or(args, "step", 0);
    slice.layer = value_or(args, "layer", std::string());
    slice.index = value_or(args, "bucket", -1);
    slice.sequence = value_or(args, "sequence", -1);
    slice.copies = value_or(args, "copies", 1);
    slice.size = Bytes{value_or(args, "bytes", std::int64_t{0})};
    if (args.has("last_rank")) {
      slice.arrival =
          Arrival{duration(args.at("arrival_skew_us")), duration(args.at("waited_for_last_us")),
                  value_at<int>(args, "last_rank"), value_at<int>(args, "last_device")};
    }
    track_of(event).slices.push_back(std::move(slice));
  }

  void take_moment(const JsonValue& event) {
    const JsonValue args = arguments(event);
    const int device = track_of(event).device;
    Bucket& bucket = bucket_of(process_of(event), device, value_at<int>(args, "step"),
                               value_at<int>(args, "bucket"));
    const bool is_ready = args.at("what").text() == "ready";
    (is_ready ? bucket.ready : bucket.back) = origin_ + duration(event.at("ts"));
  }

  static Bucket& bucket_of(Process& process, int device, int step, int index) {
    for (Bucket& bucket : process.buckets) {
      if (bucket.device == device && bucket.step == step && bucket.index == index) return bucket;
    }
    return process.buckets.emplace_back(Bucket{.device = device, .step = step, .index = index});
  }

  // The index that an event's number stands for by a name before it.
  static std::size_t index_of(const JsonValue& number, const std::map<int, std::size_t>& named) {
    const auto found = named.find(read_as<int>(number));
    if (found == named.end()) number.complain("no event before it names what has this number");
    return found->second;
  }

  Process& process_of(const JsonValue& event) {
    return trace_.processes[index_of(event.at("pid"), processes_)];
  }
  Track& track_of(const JsonValue& event) {
    std::vector<Track>& tracks = process_of(event).tracks;
    const std::size_t index = index_of(event.at("tid"), tracks_);
    if (index >= tracks.size()) event.complain("its thread is another process's");
    return tracks[index];
  }

  Trace& trace_;
  Nanoseconds origin_{0};
  std::map<int, std::size_t> processes_;  // index of a process by pid
  std::map<int, std::size_t> tracks_;     // index of a track by tid, which no two processes share
};

}  // namespace

Trace parse_trace(const std::string& text, const std::string& source) {
  if (text.empty()) {
    fail(ErrorKind::kUsage, "{}: it is empty, as a trace is not: record it again", source);
  }
  const auto again = [&](std::string_view advice, const auto& read) {
    try {
      return read();
    } catch (const Error& error) {
      fail(ErrorKind::kUsage, "{}{}", error.what(), advice);
    }
  };
  const JsonDocument document = again(", or record it again where it was cut off", [&] {
    return JsonDocument(JsonAuthor::kPerson, text, source);
  });
  check_version(document.root());
  return again("; it was changed since step_bench trace wrote it: record it again", [&] {
    Trace trace;
    Reader(trace).read(document.root());
    return trace;
  });
}

}  // namespace tandem::timeline
