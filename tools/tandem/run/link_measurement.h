// SPDX-License-Identifier: Apache-2.0
//
// The bandwidth and latency between the devices of a node, measured by copy_bench once per sweep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

// Copies of one size from one end to another, as copy_bench measured them.
struct CopySpeed {
  std::string from{};  // "cuda:0", "pinned", ...
  std::string to{};
  double gigabytes_per_second = 0;  // 10^9 bytes per second of the median copy
  double median_us = 0;             // from the call of a copy to the end of the wait
  std::int64_t bytes = 0;

  bool operator==(const CopySpeed&) const = default;
};

// The size of the copy whose time is the latency of a link.
inline constexpr std::int64_t kLatencyBytes = 4;

struct CopyRequest {
  std::string backend;
  int devices = 0;
  std::int64_t bytes = 0;  // whole MiB, measured beside kLatencyBytes
  int samples = 0;
  std::filesystem::path out;
};

// copy_bench's arguments for copies one way between all devices and pinned memory.
[[nodiscard]] std::vector<std::string> copy_words(const CopyRequest& request);

// The measured entries of copy_bench's document. Throws a failure where the text is no such
// document.
[[nodiscard]] std::vector<CopySpeed> parse_copies(const std::string& document);

struct LinkMeasurement {
  std::filesystem::path copy_bench{};
  std::filesystem::path logs{};  // folder of the log and, for a while, of the figures
  LaunchSite site{};
  std::string backend = "auto";
  int devices = 1;  // devices that the sweep uses at once on a node
  bool oversubscribe = false;
};

// Measures a node's first devices, eight at most, so that the measurement takes seconds. A failure
// becomes the matrix' reason; the result is empty where an interrupt cut the measurement short.
[[nodiscard]] std::optional<results::LinkMatrix> measure_links(const LinkMeasurement& request,
                                                               const Interrupts& interrupts);

// copy_bench's command line for the request; copy_bench writes its figures to `out`.
[[nodiscard]] std::vector<std::string> link_command(const LinkMeasurement& request,
                                                    const std::filesystem::path& out);

}  // namespace tandem::cli
