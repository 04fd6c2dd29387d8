// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/driver/benchmark_flags.h"
#include "bench/job/job.h"
#include "common/base/units.h"
#include "common/runtime/span.h"

namespace tandem::bench {

// The place where a copy begins or ends.
struct Endpoint {
  enum class Kind { kDevice, kPinned, kPageable };

  Kind kind = Kind::kDevice;
  int device = 0;  // the device's index, with kDevice

  [[nodiscard]] bool is_device() const { return kind == Kind::kDevice; }
  bool operator==(const Endpoint&) const = default;
};

// The name of an endpoint: "host:0", "cuda:1", "pinned", "pageable".
[[nodiscard]] std::string name_of(const Endpoint& endpoint, Backend backend);

enum class Ways { kOne, kBoth };  // both: at the same time

struct CopyCase {
  Endpoint from{};
  Endpoint to{};
  Ways ways = Ways::kOne;
  Bytes size;  // bytes each way

  // The bytes that cross in a sample.
  [[nodiscard]] Bytes bytes_moved() const { return size * (ways == Ways::kBoth ? 2 : 1); }
};

// All devices, then pinned, then pageable host memory.
[[nodiscard]] std::vector<Endpoint> endpoints_of(int devices);

// One way: every pair of endpoints of which one is a device, a device to itself included. Both
// ways: every two endpoints of which one is a device, pageable memory excluded: the host waits for
// a copy out of pageable memory, so two such copies do not run at once.
[[nodiscard]] std::vector<CopyCase> copy_cases(int devices, Ways ways, Bytes size);

// The name "copy/from:host:0/to:host:1/bytes:16777216", with "both_ways" before the bytes for both
// ways.
[[nodiscard]] std::string name_of(const CopyCase& measured, Backend backend);

struct CopyOptions {
  JobOptions job{};
  std::vector<Bytes> sizes{};  // whole elements of fp32
  std::vector<Ways> ways{};
  int samples = 50;
  BenchmarkFlags benchmark{};
};

// Throws usage errors; with --help, prints the help and returns nothing.
[[nodiscard]] std::optional<CopyOptions> parse_copy_options(int argc, const char* const* argv);

}  // namespace tandem::bench
