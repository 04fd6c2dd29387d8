// SPDX-License-Identifier: Apache-2.0
#include "bench/job.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bench/comma_list.h"
#include "bench/core_speed.h"
#include "bench/google_benchmark.h"
#include "common/base/error.h"
#include "common/comm/agreement.h"
#include "common/comm/launcher.h"
#include "common/comm/node_link_ports.h"
#include "common/comm/shared_memory.h"
#include "common/runtime/host/available_memory.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

std::vector<int> cores_of(const std::string& text) {
  std::vector<int> cores;
  for (const std::string& core : parts_of(text)) cores.push_back(std::stoi(core));
  return cores;
}

// What any rank may use, in OS order.
std::vector<int> cores_of_all_ranks(Bootstrap& bootstrap) {
  const std::string mine = fmt::format("{}", fmt::join(host::allowed_cores(), ","));
  std::set<int> all;
  for (const std::string& theirs : bootstrap.all_gather(mine)) {
    const std::vector<int> cores = cores_of(theirs);
    all.insert(cores.begin(), cores.end());
  }
  return {all.begin(), all.end()};
}

// The same on every rank, so that what does not fit fails on all of them at the same call.
Bytes least_available_memory(Bootstrap& bootstrap) {
  const Bytes mine = host::available_memory();
  Bytes least = mine;
  for (const std::string& theirs : bootstrap.all_gather(std::to_string(mine.value))) {
    least = std::min(least, Bytes{std::stoll(theirs)});
  }
  return least;
}

void check_world(const Bootstrap& bootstrap, const PlaceOptions& options) {
  if (options.launch == Launch::kThreads || bootstrap.size() == options.devices) return;
  fail(
      ErrorKind::kUsage,
      "--devices={} as processes needs a rank for each, but {} rank{} started: run it under mpirun "
      "-np {} --bind-to none",
      options.devices, bootstrap.size(), bootstrap.size() == 1 ? " was" : "s were",
      options.devices);
}

struct ModelledLink {
  std::optional<LinkModel> model;
  std::shared_ptr<LinkPorts> ports;
  std::string notice;
  double core_gflops = 0;
};

// A preset is stretched to what one core computes: as given, or measured once for all ranks.
double core_gflops(Bootstrap& bootstrap, const PlaceOptions& options, int core) {
  if (!options.link->is_preset()) return 0;
  if (options.core_gflops > 0) return options.core_gflops;
  const double mine = bootstrap.rank() == 0 ? measured_core_flops(core) * 1e-9 : 0;
  return std::stod(broadcast(bootstrap, fmt::format("{:.17g}", mine), 0));
}

ModelledLink open_link(Bootstrap& bootstrap, const PlaceOptions& options, int core) {
  if (!options.link) return {};
  ModelledLink link;
  link.core_gflops = core_gflops(bootstrap, options, core);
  const double flops = link.core_gflops * 1e9;
  link.model = scaled(*options.link, flops);
  link.ports = make_node_link_ports(bootstrap);
  link.notice = fmt::format("link {}", options.link->text);
  if (options.link->is_preset()) {
    link.notice += fmt::format(
        " (scaled: K = {:.0f}; {} and {:.3g} GB/s here)", stretch(*options.link, flops),
        tandem::to_string(Seconds(link.model->latency)), link.model->bytes_per_second * 1e-9);
  }
  return link;
}

}  // namespace

void check_launch(Launch launch) {
  if (launch == Launch::kProcesses || announced_ranks() == 1) return;
  fail(ErrorKind::kUsage,
       "threads are one process, but the launcher started {} ranks: run it without mpirun",
       announced_ranks());
}

void add_context(const Place& place) {
  GoogleBenchmark::add_context("tandem_build_type", TANDEM_BUILD_TYPE);
  GoogleBenchmark::add_context("tandem_backend", to_string(place.platform->backend()));
  GoogleBenchmark::add_context("tandem_oversubscribed",
                               place.platform->oversubscribed() ? "yes" : "no");
}

Place open_place(Bootstrap& bootstrap, const PlaceOptions& options) {
  Place place;
  const std::vector<int> cores = cores_of_all_ranks(bootstrap);
  const Bytes memory = least_available_memory(bootstrap);
  const ModelledLink link = open_link(bootstrap, options, cores.front());
  attempt_together(bootstrap, [&] {
    check_world(bootstrap, options);
    PlatformOptions platform{.devices = options.devices, .oversubscribe = options.oversubscribe};
    platform.device_memory = options.device_memory;
    if (platform.device_memory.empty() && options.backend != BackendChoice::kCuda) {
      platform.device_memory = {Bytes{memory.value / options.devices}};
    }
    platform.cores = cores;
    platform.link = link.model;
    platform.link_ports = link.ports;
    const BackendDecision decision = choose_backend(options.backend, platform);
    place.backend_notice = decision.why;
    place.platform = open_platform(decision.backend, platform);
    const bool ranks = options.launch == Launch::kProcesses;
    place.device = &place.platform->device(ranks ? bootstrap.rank() : 0);
    place.device->bind_this_thread();
  });
  place.link_notice = link.notice;
  place.core_gflops = link.core_gflops;
  place.usable_cores = static_cast<int>(cores.size());
  for (int i = 0; i < options.devices; ++i) {
    place.cores.push_back(cores[static_cast<std::size_t>(i) % cores.size()]);
  }
  place.communicator =
      make_shared_memory_communicator(bootstrap, *place.device, options.communicator);
  return place;
}

}  // namespace tandem::bench
