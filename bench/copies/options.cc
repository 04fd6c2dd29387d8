// SPDX-License-Identifier: Apache-2.0
#include "bench/copies/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "bench/driver/flag_values.h"
#include "bench/driver/option_lines.h"
#include "bench/driver/ranks_main.h"
#include "common/options/rules.h"

namespace tandem::bench {

std::string name_of(const Endpoint& endpoint, Backend backend) {
  switch (endpoint.kind) {
    case Endpoint::Kind::kDevice:
      return to_string(DeviceId{backend, endpoint.device});
    case Endpoint::Kind::kPinned:
      return "pinned";
    case Endpoint::Kind::kPageable:
      return "pageable";
  }
  return "";
}

std::vector<Endpoint> endpoints_of(int devices) {
  std::vector<Endpoint> endpoints;
  for (int device = 0; device < devices; ++device) {
    endpoints.push_back({Endpoint::Kind::kDevice, device});
  }
  endpoints.push_back({Endpoint::Kind::kPinned});
  endpoints.push_back({Endpoint::Kind::kPageable});
  return endpoints;
}

std::vector<CopyCase> copy_cases(int devices, Ways ways, Bytes size) {
  const std::vector<Endpoint> endpoints = endpoints_of(devices);
  std::vector<CopyCase> cases;
  for (std::size_t from = 0; from < endpoints.size(); ++from) {
    for (std::size_t to = 0; to < endpoints.size(); ++to) {
      const CopyCase added{
          .from = endpoints[from], .to = endpoints[to], .ways = ways, .size = size};
      if (!added.from.is_device() && !added.to.is_device()) continue;
      const bool is_pageable = added.to.kind == Endpoint::Kind::kPageable;
      if (ways == Ways::kBoth && (from >= to || is_pageable)) continue;
      cases.push_back(added);
    }
  }
  return cases;
}

std::string name_of(const CopyCase& measured, Backend backend) {
  return fmt::format("copy/from:{}/to:{}{}/bytes:{}", name_of(measured.from, backend),
                     name_of(measured.to, backend),
                     measured.ways == Ways::kBoth ? "/both_ways" : "", measured.size.value);
}

namespace {

struct Flags {
  std::string sizes = "1MiB,16MiB,64MiB";
  std::string ways = "all";
  int samples = 50;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--sizes", flags.sizes,
                 "bytes of a copy: a list, a range that doubles (1KiB:64MiB), or one with its "
                 "factor (1KiB:1GiB:4); what does not fit into memory is skipped")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_option("--ways", flags.ways, "one way, both ways at once, or all of these")
      ->type_name("one|both|all")
      ->capture_default_str();
  app.add_option("--samples", flags.samples, "per copy; 1000 or more give p99")
      ->type_name("COUNT")
      ->capture_default_str();
  app.footer(
      "Examples:\n"
      "  copy_bench --devices=2\n"
      "  copy_bench --devices=2 --ways=both --sizes=64MiB --samples=1000\n"
      "Google Benchmark's flags say what they say elsewhere.\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
}

std::vector<Ways> ways_of(const std::string& text) {
  using Asked = Choice<std::vector<Ways>>;
  return choose("--ways", text,
                std::array{Asked{"one", {Ways::kOne}}, Asked{"both", {Ways::kBoth}},
                           Asked{"all", {Ways::kOne, Ways::kBoth}}});
}

// Throws a usage error for a size that is no multiple of an fp32 element, as copies are checked as
// fp32.
std::vector<Bytes> whole_elements(const std::vector<Bytes>& sizes) {
  constexpr auto kElement = static_cast<std::int64_t>(sizeof(float));
  for (const Bytes size : sizes) {
    if (size.value % kElement == 0) continue;
    fail(ErrorKind::kUsage, "--sizes: {} B is no multiple of {}: use one", size.value, kElement);
  }
  return sizes;
}

}  // namespace

std::optional<CopyOptions> parse_copy_options(int argc, const char* const* argv) {
  CLI::App app("Times copies between devices, and between them and the host, pair by pair.",
               "copy_bench");
  Flags flags;
  declare(app, flags);
  const OptionLines lines(app, {"devices", "backend", "device-memory", "oversubscribe", "gpus",
                                "p2p", "gpu-wait", "bind"});
  CopyOptions options;
  std::vector<std::string> benchmark_flags;
  if (!parse_with_benchmark_flags(app, argc, argv, benchmark_flags)) return std::nullopt;
  options.benchmark = read_benchmark_flags("copy_bench", benchmark_flags, 1);
  const options::Values values = lines.values();
  options.job = job_options(values);
  options.sizes = whole_elements(parse_sizes(flags.sizes, "--sizes"));
  options.ways = ways_of(flags.ways);
  options.samples = flags.samples;
  check_samples(options.samples);
  return options;
}

}  // namespace tandem::bench
