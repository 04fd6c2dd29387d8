// SPDX-License-Identifier: Apache-2.0
#include "bench/copies/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "bench/driver/choices.h"
#include "bench/driver/ranks_main.h"
#include "bench/driver/size_list.h"
#include "bench/job/gpu_flags.h"

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

std::string name_of(const CopyCase& measured, Backend backend, const std::string& link) {
  return fmt::format("copy/from:{}/to:{}{}/bytes:{}{}", name_of(measured.from, backend),
                     name_of(measured.to, backend),
                     measured.ways == Ways::kBoth ? "/both_ways" : "", measured.size.value,
                     link.empty() ? "" : fmt::format("/link:{}", link));
}

namespace {

enum class WaysAsked { kOne, kBoth, kAll };
constexpr std::array kWaysAsked{Choice<WaysAsked>{"one", WaysAsked::kOne},
                                Choice<WaysAsked>{"both", WaysAsked::kBoth},
                                Choice<WaysAsked>{"all", WaysAsked::kAll}};

struct Flags {
  int devices = 1;
  std::string sizes = "1MiB,16MiB,64MiB";
  std::string ways = "all";
  int samples = 50;
  std::string backend = "auto";
  std::string link;
  double core_gflops = 0;
  std::string device_memory;
  bool oversubscribe = false;
  GpuFlags gpus;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--devices", flags.devices, "devices")->capture_default_str();
  app.add_option("--sizes", flags.sizes,
                 "bytes of a copy: a list, a range that doubles (1KiB:64MiB), or one with its "
                 "factor (1KiB:1GiB:4); what does not fit into memory is skipped")
      ->capture_default_str();
  app.add_option("--ways", flags.ways, "one way, both ways at once, or all of these")
      ->capture_default_str();
  app.add_option("--samples", flags.samples, "per copy; 1000 or more give p99")
      ->capture_default_str();
  app.add_option("--backend", flags.backend, "auto, host or cuda")->capture_default_str();
  app.add_option("--link", flags.link,
                 "host: the modelled link between devices, LATENCY:BANDWIDTH such as 20us:1GBps, "
                 "or a preset such as pcie4@a100-fp32");
  app.add_option("--core-gflops", flags.core_gflops,
                 "speed of one core that a preset link is scaled to (default: measured)");
  app.add_option("--device-memory", flags.device_memory,
                 "capacity per device, such as 2GiB (default: what is left, shared evenly)");
  app.add_flag("--oversubscribe", flags.oversubscribe, "let devices share cores or GPUs");
  declare_gpus(app, flags.gpus);
}

PlaceOptions place_of(const Flags& flags, bool has_core_speed) {
  if (flags.devices < 1) fail(ErrorKind::kUsage, "--devices={}: use 1 or more", flags.devices);
  PlaceOptions place{.devices = flags.devices,
                     .backend = parse_backend(flags.backend),
                     .oversubscribe = flags.oversubscribe,
                     .core_gflops = flags.core_gflops};
  if (!flags.device_memory.empty()) {
    place.device_memory = {parse_bytes(flags.device_memory, "--device-memory")};
  }
  choose_gpus(flags.gpus, place);
  if (!flags.link.empty()) place.link = parse_link(flags.link);
  if (!has_core_speed) return place;
  if (!place.link || !place.link->is_preset()) {
    fail(ErrorKind::kUsage, "--core-gflops does nothing without a preset link");
  }
  if (!(flags.core_gflops > 0 && flags.core_gflops < 1e9)) {
    fail(ErrorKind::kUsage, "--core-gflops={}: use a speed above 0", flags.core_gflops);
  }
  return place;
}

std::vector<Ways> ways_of(const std::string& text) {
  switch (choose("--ways", text, kWaysAsked)) {
    case WaysAsked::kOne:
      return {Ways::kOne};
    case WaysAsked::kBoth:
      return {Ways::kBoth};
    case WaysAsked::kAll:
      return {Ways::kOne, Ways::kBoth};
  }
  return {};
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
  CopyOptions options;
  std::vector<std::string> benchmark_flags;
  if (!parse_with_benchmark_flags(app, argc, argv, benchmark_flags)) return std::nullopt;
  options.benchmark = read_benchmark_flags("copy_bench", benchmark_flags, 1);
  options.place = place_of(flags, app.count("--core-gflops") > 0);
  options.sizes = whole_elements(parse_sizes(flags.sizes, "--sizes"));
  options.ways = ways_of(flags.ways);
  options.samples = flags.samples;
  if (options.samples < 2) fail(ErrorKind::kUsage, "--samples={}: use 2 or more", options.samples);
  return options;
}

}  // namespace tandem::bench
