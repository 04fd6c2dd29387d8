// SPDX-License-Identifier: Apache-2.0
#include "bench/job/gpu_binding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "common/comm/bootstrap.h"
#include "common/runtime/device.h"
#include "common/runtime/host/cores.h"

namespace tandem::bench {
namespace {

using Cpus = std::vector<int>;

std::string line_of(const Cpus& cpus) { return fmt::format("{}\n", fmt::join(cpus, " ")); }

Cpus cpus_from(const std::string& line) {
  std::istringstream text(line);
  Cpus cpus;
  for (int cpu = 0; text >> cpu;) cpus.push_back(cpu);
  return cpus;
}

// The facts that a rank tells the other ranks of its node: the CPUs that the rank may use, and the
// CPUs near each device.
struct Told {
  Cpus allowed{};
  std::vector<Cpus> near{};
};

std::string text_of(const Told& told) {
  std::string text = line_of(told.allowed);
  for (const Cpus& near : told.near) text += line_of(near);
  return text;
}

Told told_in(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  Told told;
  if (std::getline(lines, line)) told.allowed = cpus_from(line);
  while (std::getline(lines, line)) told.near.push_back(cpus_from(line));
  return told;
}

// What this rank knows of each GPU: the CPUs near the GPU, none where NVML names none, and the
// memory near the GPU.
struct Known {
  Told told{};
  std::vector<NearHost> hosts{};  // the CPUs are filled in by share_cpus()
};

Known ask_near(const std::vector<std::string>& gpus, const nvml::Nvml* nvml) {
  Known known{.told = {.allowed = host::allowed_cpus()}};
  for (const std::string& gpu : gpus) {
    const auto facts = nvml == nullptr ? std::nullopt : nvml->facts(pci_address_of(gpu));
    known.told.near.push_back(facts ? facts->near_cores : Cpus{});
    known.hosts.push_back({.cpus = {}, .memory_node = facts ? facts->near_node : std::nullopt});
  }
  return known;
}

// Shares the node's cores among all devices of this rank's node, and gives this rank's devices
// theirs.
void share_cpus(std::vector<NearHost>& hosts, int own_rank, const std::vector<int>& ranks,
                const std::vector<Told>& by_rank) {
  std::set<int> allowed;
  std::vector<Cpus> near;     // near CPUs of all devices of the node, by rank
  std::size_t own_first = 0;  // index of this rank's first device in `near`
  for (const int rank : ranks) {
    const Told& theirs = by_rank[static_cast<std::size_t>(rank)];
    if (rank == own_rank) own_first = near.size();
    allowed.insert(theirs.allowed.begin(), theirs.allowed.end());
    near.insert(near.end(), theirs.near.begin(), theirs.near.end());
  }
  const auto shares = host::share_cores(host::whole_cores({allowed.begin(), allowed.end()}), near);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].cpus = shares[own_first + i];
}

std::string warning_of(const std::vector<Told>& by_rank) {
  std::size_t devices = 0;
  std::ptrdiff_t unknown = 0;
  for (const Told& told : by_rank) {
    devices += told.near.size();
    unknown += std::ranges::count_if(told.near, &Cpus::empty);
  }
  if (unknown == 0) return "";
  return fmt::format(
      "--bind=near: nothing is known to be near {} of {} devices, which take their share of all "
      "cores: NVML (libnvidia-ml.so.1) is missing or names no CPUs",
      unknown, devices);
}

}  // namespace

FoundHosts find_near_hosts(Bootstrap& bootstrap, const NodeLayout& nodes,
                           const std::vector<std::string>& gpus,
                           const std::function<std::unique_ptr<nvml::Nvml>()>& open_nvml) {
  Known known;
  attempt_together(bootstrap, [&] { known = ask_near(gpus, open_nvml().get()); });
  std::vector<Told> by_rank;
  for (const std::string& text : bootstrap.all_gather(text_of(known.told))) {
    by_rank.push_back(told_in(text));
  }
  attempt_together(bootstrap, [&] {
    const int rank = bootstrap.rank();
    share_cpus(known.hosts, rank, nodes.ranks_of(nodes.node_of(rank)), by_rank);
  });
  return {.hosts = std::move(known.hosts), .warning = warning_of(by_rank)};
}

}  // namespace tandem::bench
