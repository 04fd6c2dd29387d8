// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/link_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {

namespace {

using results::LinkMatrix;

// The number of pairs grows with the square: the 64 pairs of eight devices take seconds.
constexpr int kMostDevices = 8;
constexpr int kSamples = 11;
constexpr std::chrono::seconds kDeadline{60};

// Reads the two ends and the size in "copy/from:cuda:0/to:pinned/bytes:67108864"; the result is
// empty where the name has another form.
CopySpeed ends_of(const std::string& name) {
  const std::size_t from = name.find("/from:");
  const std::size_t to = name.find("/to:");
  const std::size_t bytes = name.find("/bytes:");
  if (from == std::string::npos || to == std::string::npos || bytes == std::string::npos) return {};
  return {.from = name.substr(from + 6, to - from - 6),
          .to = name.substr(to + 4, bytes - to - 4),
          .bytes = std::strtoll(name.c_str() + bytes + 7, nullptr, 10)};
}

// Copies on GPUs are larger, since the cost of a call would otherwise reduce the bandwidth.
std::int64_t copy_bytes(const std::string& backend) {
  return std::int64_t{is_on_host(backend) ? 16 : 64} << 20;
}

results::Link& link_of(std::vector<results::Link>& links, const CopySpeed& copy) {
  const auto found = std::ranges::find_if(links, [&](const results::Link& link) {
    return link.from == copy.from && link.to == copy.to;
  });
  if (found != links.end()) return *found;
  return links.emplace_back(results::Link{.from = copy.from, .to = copy.to});
}

// Fills in the links of a matrix that has its two sizes, or a reason where there are no links.
void add_links(const std::vector<CopySpeed>& copies, LinkMatrix& matrix) {
  for (const CopySpeed& copy : copies) {
    if (copy.bytes == matrix.copy_bytes) {
      link_of(matrix.links, copy).gigabytes_per_second = copy.gigabytes_per_second;
    } else if (copy.bytes == matrix.latency_bytes) {
      link_of(matrix.links, copy).latency_us = copy.median_us;
    }
  }
  if (matrix.links.empty()) matrix.reason = "copy_bench measured no copy";
}

// Figures that cannot be read must not end a sweep.
void read_links(const std::filesystem::path& out, LinkMatrix& matrix) {
  try {
    add_links(parse_copies(results::read_file(out)), matrix);
  } catch (const Error& error) {
    matrix.reason = error.what();
  }
  std::error_code ignored;
  std::filesystem::remove(out, ignored);
}

}  // namespace

std::vector<std::string> copy_words(const CopyRequest& request) {
  return {"--backend=" + request.backend,
          fmt::format("--devices={}", request.devices),
          fmt::format("--sizes={}B,{}MiB", kLatencyBytes, request.bytes >> 20),
          "--ways=one",
          fmt::format("--samples={}", request.samples),
          "--benchmark_filter=-pageable",
          "--benchmark_out=" + request.out.string()};
}

std::vector<CopySpeed> parse_copies(const std::string& text) {
  const auto document = object_in(text, "copy_bench's document");
  const auto entries = document ? document->root().find("benchmarks") : std::nullopt;
  if (!entries || !entries->is_list()) {
    fail(ErrorKind::kFailure, "reading copy_bench's document: it is none of Google Benchmark's");
  }
  std::vector<CopySpeed> speeds;
  for (const JsonValue entry : *entries) {
    const auto bandwidth = entry.find("GBps");
    if (!bandwidth || !bandwidth->is_number()) continue;
    CopySpeed speed = ends_of(value_or(entry, "name", std::string()));
    if (speed.from.empty()) continue;
    speed.gigabytes_per_second = bandwidth->number();
    speed.median_us = value_or(entry, "host_p50_us", value_or(entry, "p50_us", 0.0));
    speeds.push_back(speed);
  }
  return speeds;
}

std::vector<std::string> link_command(const LinkMeasurement& request,
                                      const std::filesystem::path& out) {
  results::Cell cell;
  cell.launch = "threads";
  cell.devices = std::min(request.devices, kMostDevices);
  std::vector<std::string> command = launcher_words(request.site, cell, request.oversubscribe);
  command.push_back(request.copy_bench.string());
  const std::vector<std::string> words = copy_words({.backend = request.backend,
                                                     .devices = cell.devices,
                                                     .bytes = copy_bytes(request.backend),
                                                     .samples = kSamples,
                                                     .out = out});
  command.insert(command.end(), words.begin(), words.end());
  if (request.oversubscribe) command.emplace_back("--oversubscribe");
  return command;
}

std::optional<LinkMatrix> measure_links(const LinkMeasurement& request,
                                        const Interrupts& interrupts) {
  const std::filesystem::path out = request.logs / "links.json";
  const ChildResult result = run_child({.arguments = link_command(request, out),
                                        .environment = launch_environment(),
                                        .log = request.logs / "links.log",
                                        .timeout = kDeadline},
                                       interrupts);
  if (result.end == ChildResult::End::kInterrupted) return std::nullopt;
  LinkMatrix matrix{.devices = std::min(request.devices, kMostDevices),
                    .of_devices = request.devices,
                    .copy_bytes = copy_bytes(request.backend),
                    .latency_bytes = kLatencyBytes,
                    .samples = kSamples,
                    .oversubscribed = request.oversubscribe};
  if (!result.has_exited(0)) {
    matrix.reason = reason_of(result, "copy_bench", kDeadline);
  } else {
    read_links(out, matrix);
  }
  return matrix;
}

}  // namespace tandem::cli
