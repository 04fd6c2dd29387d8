// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/copy_speeds.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/error.h"

namespace tandem::cli {
namespace {

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

double number_in(const nlohmann::json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number() ? found->get<double>() : 0;
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
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("benchmarks") ||
      !document["benchmarks"].is_array()) {
    fail(ErrorKind::kFailure, "reading copy_bench's document: it is none of Google Benchmark's");
  }
  std::vector<CopySpeed> speeds;
  for (const auto& entry : document["benchmarks"]) {
    if (!entry.is_object() || !entry.contains("GBps") || !entry["GBps"].is_number()) continue;
    CopySpeed speed = ends_of(entry.value("name", ""));
    if (speed.from.empty()) continue;
    speed.gigabytes_per_second = number_in(entry, "GBps");
    speed.median_us = number_in(entry, "p50_us");
    speeds.push_back(speed);
  }
  return speeds;
}

}  // namespace tandem::cli
