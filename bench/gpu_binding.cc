// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_binding.h"

#include <fmt/ranges.h>

#include <set>
#include <sstream>

#include "common/runtime/gpu_address.h"
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

// What a rank tells the others of its node: the CPUs that it may use, and those near each device.
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

}  // namespace

std::vector<NearHost> find_near_hosts(Bootstrap& bootstrap, const NodeLayout& nodes,
                                      const std::vector<std::string>& gpus,
                                      const nvml::Nvml* nvml) {
  Told mine{.allowed = host::allowed_cpus()};
  std::vector<NearHost> hosts;
  for (const std::string& gpu : gpus) {
    const auto facts = nvml == nullptr ? std::nullopt : nvml->facts(pci_address_of(gpu));
    mine.near.push_back(facts ? facts->near_cores : Cpus{});
    hosts.push_back({.cpus = {}, .memory_node = facts ? facts->near_node : std::nullopt});
  }
  const std::vector<std::string> by_rank = bootstrap.all_gather(text_of(mine));
  std::set<int> allowed;
  std::vector<Cpus> near;     // of all devices of the node, by rank
  std::size_t own_first = 0;  // of them, this rank's
  for (const int rank : nodes.ranks_of(nodes.node_of(bootstrap.rank()))) {
    const Told theirs = told_in(by_rank[static_cast<std::size_t>(rank)]);
    if (rank == bootstrap.rank()) own_first = near.size();
    allowed.insert(theirs.allowed.begin(), theirs.allowed.end());
    near.insert(near.end(), theirs.near.begin(), theirs.near.end());
  }
  const auto shares = host::share_cores(host::whole_cores({allowed.begin(), allowed.end()}), near);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].cpus = shares[own_first + i];
  return hosts;
}

}  // namespace tandem::bench
