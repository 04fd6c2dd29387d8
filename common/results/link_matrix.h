// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::results {

// One way between two ends, each a device ("host:0", "cuda:1") or the host's pinned memory
// ("pinned"). Absent: not measured.
struct Link {
  std::string from;
  std::string to;
  std::optional<double> gigabytes_per_second{};  // GB are 10^9 bytes; of the median copy
  std::optional<double>
      latency_us{};  // of the median small copy, from its call until it is waited for

  bool operator==(const Link&) const = default;
};

// What crosses between the devices of one process, a copy at a time and on no modelled link, as
// copy_bench measured it once for a sweep.
struct LinkMatrix {
  std::string reason{};            // why there is none, one line; empty: it was measured
  int devices = 0;                 // measured, the first of
  int of_devices = 0;              // that the sweep uses at once on a node
  std::int64_t copy_bytes = 0;     // of a copy that tells the bandwidth
  std::int64_t latency_bytes = 0;  // of one that tells the latency
  int samples = 0;                 // of which each median is
  bool oversubscribed = false;     // devices share cores or GPUs
  std::vector<Link> links{};       // by end where they begin, then by end where they go

  bool operator==(const LinkMatrix&) const = default;
};

}  // namespace tandem::results
