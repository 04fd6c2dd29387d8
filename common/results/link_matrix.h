// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::results {

// One direction between two ends, each a device ("host:0", "cuda:1") or the host's pinned memory
// ("pinned"). Absent: not measured.
struct Link {
  std::string from;
  std::string to;
  std::optional<double> gigabytes_per_second{};  // GB are 10^9 bytes; from the median copy
  std::optional<double> latency_us{};            // latency of the median small copy

  bool operator==(const Link&) const = default;
};

// The bandwidth and latency between the devices of one process, measured by copy_bench once for a
// sweep, a copy at a time and on no modelled link.
struct LinkMatrix {
  std::string reason{};            // why nothing was measured, one line; empty: measured
  int devices = 0;                 // measured devices, the first of `of_devices`
  int of_devices = 0;              // devices that the sweep uses at once on a node
  std::int64_t copy_bytes = 0;     // size of a bandwidth copy
  std::int64_t latency_bytes = 0;  // size of a latency copy
  int samples = 0;                 // samples per median
  bool oversubscribed = false;     // devices share cores or GPUs
  std::vector<Link> links{};       // ordered by `from`, then by `to`

  bool operator==(const LinkMatrix&) const = default;
};

}  // namespace tandem::results
