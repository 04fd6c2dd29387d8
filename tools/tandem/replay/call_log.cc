// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/call_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/json/parse.h"

namespace tandem::replay {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kVersion = 2;
constexpr Bytes kMost = gib(4);
constexpr std::int64_t kMostNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // ns: the sum of two is a number
constexpr std::int64_t kLongestLogTime = 1'000'000'000;      // ns
constexpr std::int64_t kMostOfSize = std::int64_t{1} << 40;  // bytes, or elements of a tensor
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 32;
constexpr std::int64_t kMostThreads = 1 << 16;  // of a block
constexpr std::int64_t kMostTerms = std::int64_t{1} << 60;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::size_t kMostExtents = 16;
constexpr std::int64_t kMostThreadNumber = std::numeric_limits<int>::max();
constexpr int kHost = -1;

// A handle or a number that only names something.
std::int64_t number_at(const JsonValue& line, std::string_view key) {
  return line.at(key).whole(-1, kMostNumber);
}

Nanoseconds time_at(const JsonValue& line, std::string_view key) {
  return Nanoseconds{line.at(key).whole(0, kLatest)};
}

std::int64_t size_at(const JsonValue& line, std::string_view key) {
  return line.at(key).whole(0, kMostOfSize);
}

Bytes bytes_at(const JsonValue& line) { return Bytes{size_at(line, "bytes")}; }

// The product of extents; complains at `place` where it is over `most`.
std::int64_t checked_product(const JsonValue& place, std::initializer_list<std::int64_t> extents,
                             std::int64_t most) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product) || product > most) {
      place.complain(fmt::format("has a product over {}, which no GPU takes", most));
    }
  }
  return product;
}

Extents extents_at(const JsonValue& operation, std::string_view key) {
  Extents extents;
  const auto found = operation.find(key);
  if (!found) return extents;
  if (found->size() > kMostExtents) {
    found->complain(
        fmt::format("has {} extents, and at most {} are read", found->size(), kMostExtents));
  }
  std::int64_t product = 1;
  for (const JsonValue extent : *found) {
    extents.push_back(extent.whole(0, kMostOfSize));
    product = checked_product(*found, {product, extents.back()}, kMostOfSize);
  }
  return extents;
}

std::int64_t product_of_extents(const JsonValue& line, std::string_view key, std::int64_t most) {
  const JsonValue extents = line.at(key);
  std::int64_t product = 1;
  for (const JsonValue extent : extents) {
    product = checked_product(extents, {product, extent.whole(0, most)}, most);
  }
  return product;
}

MatrixProduct product_of(const JsonValue& line) {
  const MatrixProduct product{.m = size_at(line, "m"),
                              .n = size_at(line, "n"),
                              .k = size_at(line, "k"),
                              .batch = size_at(line, "batch"),
                              .type = {}};
  const auto& [m, n, k, batch, type] = product;
  checked_product(line, {m, k, batch}, kMostOfSize);
  checked_product(line, {k, n, batch}, kMostOfSize);
  checked_product(line, {m, n, batch}, kMostOfSize);
  checked_product(line, {m, n, batch, k}, kMostTerms);
  return product;
}

LibraryCall library_call_of(const JsonValue& line) {
  LibraryCall call;
  for (const JsonValue one : line.at("operations")) {
    const auto type = one.find("type");
    call.operations.push_back({.name = std::string(one.at("operation").text()),
                               .type = type ? std::string(type->text()) : std::string(),
                               .x = extents_at(one, "x"),
                               .w = extents_at(one, "w"),
                               .y = extents_at(one, "y")});
  }
  return call;
}

HostWait host_wait_of(std::string_view function, const JsonValue& line) {
  using For = HostWait::For;
  if (function == "cudaEventSynchronize") return {For::kEvent, number_at(line, "event")};
  if (function.ends_with("StreamSynchronize")) return {For::kStream};
  if (function == "cudaDeviceSynchronize" || function == "cuCtxSynchronize") return {For::kDevice};
  return {};  // a call of the host's that a stream makes
}

// Reads the lines of one file.
class LogReader {
 public:
  explicit LogReader(LoggedProcess& process) : process_(process) {}

  // The number of lines tells where an error is.
  void take(std::string_view text) {
    ++lines_;
    document_.read(text, fmt::format("{} line {}", process_.file, lines_));
    const JsonValue line = document_.root();
    line.expect_object();
    const std::string_view what = line.at("what").text();
    if (lines_ == 1) return take_process(line, what);
    has_ended_ = what == "end";
    if (line.has("t")) take_call(line, what);
  }

  void finish() {
    if (lines_ == 0 || !has_ended_) {
      fail(ErrorKind::kFailure,
           "reading {}: its last line is no 'end', so that calls are missing: the process was "
           "killed or is still running, or the file was cut; record the log again",
           process_.file);
    }
    std::ranges::stable_sort(process_.calls, {}, &LoggedCall::time);
    find_steps();
  }

 private:
  // One pass: a thread's state as a step began is what it is at the thread's first call in it.
  void find_steps() {
    std::map<int, ThreadState> threads;
    std::optional<MarkedStep> open;
    for (std::size_t at = 0; at < process_.calls.size(); ++at) {
      const LoggedCall& call = process_.calls[at];
      ThreadState& thread = threads[call.thread];
      if (open) open->threads.try_emplace(call.thread, thread);
      thread.follow(call);
      const auto* const mark = std::get_if<StepMark>(&call.asked);
      if (mark == nullptr) continue;
      if (open) {
        open->end = at;
        process_.steps.push_back(*std::exchange(open, std::nullopt));
      }
      if (mark->text != "end") open = MarkedStep{at, at, {{call.thread, thread}}};
    }
  }

  void take_process(const JsonValue& line, std::string_view what) {
    const auto version = line.find("version");
    const std::int64_t told = version ? version->whole(0, kMostNumber) : 1;
    if (what != "process") {
      fail(ErrorKind::kUsage,
           "reading {}: it is no log of pretended GPUs; give what tandem pretend --log wrote",
           process_.file);
    }
    if (told != kVersion) {
      fail(ErrorKind::kUsage,
           "reading {}: the log is of version {}, and this program reads version {}; record it "
           "again by this program's tandem pretend",
           process_.file, told, kVersion);
    }
    process_.pid = number_at(line, "pid");
    process_.log_time = Nanoseconds{line.at("own").whole(0, kLongestLogTime)};
    for (const JsonValue gpu : line.at("visible")) {
      visible_.push_back(static_cast<int>(gpu.whole(0, 1 << 16)));
    }
  }

  std::string_view kept(std::string_view text) {
    const auto found = process_.texts.find(text);
    return found != process_.texts.end() ? *found : *process_.texts.emplace(text).first;
  }

  int device_at(const JsonValue& line, std::string_view key) {
    const std::int64_t seen = number_at(line, key);
    if (seen < 0) return kHost;
    if (seen >= std::ssize(visible_)) {
      line.at(key).complain(fmt::format("is a GPU beyond the {} of the process", visible_.size()));
    }
    return visible_[static_cast<std::size_t>(seen)];
  }

  void take_call(const JsonValue& line, std::string_view what) {
    const std::string_view function = kept(line.at("call").text());
    process_.calls.push_back(
        {.time = time_at(line, "t"),
         .duration = time_at(line, "ns"),
         .cpu = time_at(line, "cpu"),
         .cpu_duration = time_at(line, "cpu_ns"),
         .thread = static_cast<int>(line.at("thread").whole(-1, kMostThreadNumber)),
         .function = function,
         .device = device_at(line, "device"),
         .stream = number_at(line, "stream"),
         .asked = asked_of(line, what, function)});
  }

  Asked asked_of(const JsonValue& line, std::string_view what, std::string_view function) {
    if (what == "lock") return LockChange{number_at(line, "held") == 1};
    if (what == "post") return Post{number_at(line, "object")};
    if (what == "woken") return Woken{number_at(line, "object")};
    if (what == "mark") return StepMark{kept(line.at("text").text())};
    if (what == "sync") return host_wait_of(function, line);
    return device_work_of(line, what, function);
  }

  Asked device_work_of(const JsonValue& line, std::string_view what, std::string_view function) {
    if (what == "launch") {
      return KernelLaunch{.kernel = kept(line.at("kernel").text()),
                          .threads = product_of_extents(line, "block", kMostThreads),
                          .blocks = product_of_extents(line, "grid", kMostBlocks),
                          .elements = size_at(line, "elements")};
    }
    if (what == "product") {
      MatrixProduct product = product_of(line);
      product.type = kept(line.at("type").text());
      return product;
    }
    if (what == "convolution" || what == "library") return library_call_of(line);
    if (what == "copy") {
      return MemoryCopy{.size = bytes_at(line),
                        .from = device_at(line, "from"),
                        .to = device_at(line, "to"),
                        .blocks = function.find("Async") == std::string_view::npos};
    }
    if (what == "fill") return MemoryFill{bytes_at(line)};
    if (what == "event") return EventRecord{number_at(line, "event")};
    if (what == "wait") return EventWait{number_at(line, "event")};
    if (what == "group") return GroupEnd{number_at(line, "group")};
    if (what == "collective") return collective_of(line);
    return HostCall{};
  }

  Asked collective_of(const JsonValue& line) {
    const std::int64_t ranks = line.at("ranks").whole(1, kMostRanks);
    return RankCollective{.name = kept(line.at("collective").text()),
                          .size = bytes_at(line),
                          .rank = static_cast<int>(line.at("rank").whole(0, ranks - 1)),
                          .ranks = static_cast<int>(ranks),
                          .communicator = number_at(line, "communicator"),
                          .group = number_at(line, "group")};
  }

  LoggedProcess& process_;
  JsonDocument document_{JsonAuthor::kProgram};
  std::vector<int> visible_;  // the machine's GPU by the process's
  int lines_ = 0;
  bool has_ended_ = false;
};

std::vector<fs::path> files_of(const fs::path& source) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(source)) return {source};
  const bool is_folder = fs::is_directory(source);
  const fs::path folder = is_folder                  ? source
                          : source.has_parent_path() ? source.parent_path()
                                                     : fs::path(".");
  const std::string begin = is_folder ? "" : source.filename().string() + ".";
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(begin)) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

void ThreadState::follow(const LoggedCall& call) {
  cpu = call.cpu + call.cpu_duration;
  last = call.time + call.duration;
  if (const auto* const change = std::get_if<LockChange>(&call.asked)) has_lock = change->is_held;
}

LoggedProcess parse_call_log(std::string_view text, std::string source) {
  LoggedProcess process{.file = std::move(source)};
  LogReader reader(process);
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    reader.take(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  reader.finish();
  return process;
}

LoggedProcess read_call_log(const fs::path& file) {
  LoggedProcess process{.file = file.string()};
  LogReader reader(process);
  InputReader input({.path = file, .begins = "reading ", .most = kMost});
  constexpr std::size_t kPart = 1 << 20;
  std::string text;
  bool is_more = true;
  while (is_more) {
    is_more = input.append_to(text, kPart);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      reader.take(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
  }
  reader.finish();
  return process;
}

std::vector<LoggedProcess> read_call_logs(const fs::path& source) {
  const std::vector<fs::path> files = files_of(source);
  if (files.empty()) {
    fail(ErrorKind::kUsage,
         "reading {}: there is no such log, nor files that begin so; give what tandem pretend "
         "--log was given",
         source.string());
  }
  std::vector<LoggedProcess> processes;
  for (const fs::path& file : files) {
    LoggedProcess process = read_call_log(file);
    if (!process.steps.empty()) processes.push_back(std::move(process));
  }
  if (processes.empty()) {
    fail(ErrorKind::kUsage,
         "reading {}: no process of {} marked where its steps begin and end; call "
         "tandem_pretend_mark before each step and behind the last, as docs/pretend.md shows",
         source.string(), files.size());
  }
  for (const LoggedProcess& process : processes) {
    if (process.steps.size() == processes.front().steps.size()) continue;
    fail(ErrorKind::kUsage,
         "reading {}: it has {} steps, and {} has {}: processes take the same steps; record them "
         "together",
         process.file, process.steps.size(), processes.front().file,
         processes.front().steps.size());
  }
  std::ranges::sort(processes, {}, &LoggedProcess::pid);
  return processes;
}

}  // namespace tandem::replay
