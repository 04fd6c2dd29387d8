// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/kineto_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "common/json/parse.h"

namespace tandem::timeline {
namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";
constexpr long kMostSteps = 1'000'000'000;

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

// Sorts one file's events.
class FileReader {
 public:
  FileReader(const JsonValue& root, RankFile& file) : root_(root), file_(file) {}

  void read() {
    check_version();
    read_rank();
    if (const auto base = root_.find("baseTimeNanoseconds")) base_ = base->whole(0, kMostBase);
    for (const JsonValue event : root_.at("traceEvents")) take(event);
    if (!has_rank_ && !file_.has_gpus()) complain_of_rank();
    if (file_.host.steps.empty()) {
      root_.complain(
          "it has no step (ProfilerStep#N): call the profiler's step() behind each step, with a "
          "schedule");
    }
    file_.host.finish();
    for (auto& [device, marks] : file_.gpus) marks.finish();
  }

  [[noreturn]] void complain_of_rank() const {
    root_.complain(
        "it names no rank (distributedInfo), as torch's profiler does where torch.distributed is "
        "initialised before it: profile each rank of the job");
  }
  [[nodiscard]] bool has_rank() const { return has_rank_; }

 private:
  static constexpr std::int64_t kMostBase = 4'000'000'000'000'000'000;
  static constexpr double kLatest = 4e15;   // microseconds
  static constexpr double kLongest = 1e12;  // microseconds: sums of all three do not overflow

  void check_version() const {
    const auto version = root_.find("schemaVersion");
    if (!version || !root_.find("traceEvents")) {
      root_.complain(
          "it is no file of torch's profiler, which has schemaVersion and traceEvents: write one "
          "with export_chrome_trace of a torch built with Kineto");
    }
    if (version->is_whole() && version->whole(0, 1 << 30) == kSchema) return;
    root_.complain(fmt::format(
        "its schemaVersion is not {}, the one that this tandem knows: profile with torch 2.9 or "
        "older, or use a newer tandem",
        kSchema));
  }

  void read_rank() {
    const auto info = root_.find("distributedInfo");
    if (!info || !info->find("rank")) return;
    has_rank_ = true;
    file_.ranks = static_cast<int>(info->at("world_size").whole(1, 1 << 20));
    file_.rank = static_cast<int>(info->at("rank").whole(0, file_.ranks - 1));
    if (const auto backend = info->find("backend")) file_.backend = backend->line();
  }

  void take(const JsonValue& json) {
    const auto category = json.find("cat");
    if (json.at("ph").text() != "X" || !category || !category->is_text()) return;
    const std::string_view kind = category->text();
    KinetoEvent event{.name = std::string(json.at("name").text())};
    event.time.begin = time_of(json.at("ts"));
    event.time.end = event.time.begin + length_of(json.at("dur"));
    if (is_any_of(kind, {"kernel", "gpu_memcpy", "gpu_memset"})) return take_kernel(json, event);
    if (kind == "gpu_user_annotation") {
      return file_.gpus[static_cast<int>(json.at("pid").whole(0, 1 << 20))].take(event);
    }
    if (!is_any_of(kind, {"cpu_op", "user_annotation"})) return;
    if (const auto thread = json.find("tid"); thread && thread->is_whole()) {
      event.thread = thread->whole(0, std::int64_t{1} << 62);
    }
    take_of_host(kind == "cpu_op", std::move(event));
  }

  void take_of_host(bool is_operator, KinetoEvent event) {
    file_.host.take(event);
    if (event.name.starts_with("gloo:") || event.name.starts_with("mpi:")) {
      file_.host_collectives.push_back(std::move(event));
    } else if (is_operator) {
      file_.operators.push_back(std::move(event));
    }
  }

  void take_kernel(const JsonValue& json, KinetoEvent& event) {
    const JsonValue args = json.at("args");
    event.device = static_cast<int>(args.at("device").whole(0, 1 << 20));
    event.thread = args.at("stream").whole(0, std::int64_t{1} << 62);
    if (const auto bytes = args.find("bytes"); bytes && bytes->is_whole()) {
      event.size = Bytes{bytes->whole(0, std::int64_t{1} << 62)};
    }
    const bool is_collective =
        event.name.starts_with("nccl") && event.name.find("Kernel") != std::string::npos;
    (is_collective ? file_.gpu_collectives : file_.kernels).push_back(std::move(event));
  }

  [[nodiscard]] Nanoseconds time_of(const JsonValue& microseconds) const {
    return Nanoseconds{base_ + std::llround(microseconds.number({0, kLatest}) * 1000)};
  }
  static Nanoseconds length_of(const JsonValue& microseconds) {
    return Nanoseconds{std::llround(microseconds.number({0, kLongest}) * 1000)};
  }

  const JsonValue root_;
  RankFile& file_;
  std::int64_t base_ = 0;
  bool has_rank_ = false;
};

}  // namespace

void Marks::take(const KinetoEvent& event) {
  if (event.name.starts_with(kStepMark)) {
    const long told = std::strtol(event.name.c_str() + kStepMark.size(), nullptr, 10);
    const int number = static_cast<int>(std::clamp(told, 0L, kMostSteps)) + 1;
    TimeRange& step = steps.try_emplace(number, event.time).first->second;
    step.begin = std::min(step.begin, event.time.begin);
    step.end = std::max(step.end, event.time.end);
    return;
  }
  for (const PhaseMark& mark : kPhaseMarks) {
    if (event.name.starts_with(mark.begins)) phases[mark.phase].push_back(event.time);
  }
}

void Marks::finish() {
  for (auto& [phase, ranges] : phases) ranges = union_of(std::move(ranges));
  const auto backward = phases.find("backward");
  if (backward == phases.end()) return;
  TimeRanges whole;
  for (const auto& [number, step] : steps) {
    const TimeRanges inside = intersection(backward->second, {step});
    if (!inside.empty()) whole.push_back({inside.front().begin, inside.back().end});
  }
  backward->second = union_of(std::move(whole));
}

RankFile read_kineto_file(const KinetoSource& source, bool is_alone) {
  const JsonDocument document(JsonAuthor::kPerson, source.text, source.name);
  RankFile file{.source = source.name};
  FileReader reader(document.root(), file);
  reader.read();
  if (!reader.has_rank() && !is_alone) reader.complain_of_rank();
  return file;
}

}  // namespace tandem::timeline
