// SPDX-License-Identifier: Apache-2.0
#include "bench/job/node_share.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/runtime/device.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_memory.h"

namespace tandem::bench {

namespace {

using Cores = std::vector<int>;  // OS numbers

std::string line_of(const Cores& cores) { return fmt::format("{}\n", fmt::join(cores, " ")); }

Cores cores_in(const std::string& line) {
  std::istringstream text(line);
  Cores cores;
  for (int core = 0; text >> core;) cores.push_back(core);
  return cores;
}

// The cores that any rank of a node may use, by node and in OS order: a launcher that binds each
// rank to one core thereby gives the job all of the cores.
std::vector<Cores> cores_of_nodes(Bootstrap& bootstrap, const NodeLayout& nodes) {
  const std::vector<std::string> by_rank = bootstrap.all_gather(line_of(host::allowed_cores()));
  std::vector<Cores> all;
  for (int node = 0; node < nodes.nodes(); ++node) {
    std::set<int> cores;
    for (const int rank : nodes.ranks_of(node)) {
      const Cores theirs = cores_in(by_rank[static_cast<std::size_t>(rank)]);
      cores.insert(theirs.begin(), theirs.end());
    }
    all.emplace_back(cores.begin(), cores.end());
  }
  return all;
}

Bytes least_share_of_memory(Bootstrap& bootstrap, int devices_here) {
  const Bytes mine{host::available_memory().value / devices_here};
  Bytes least = mine;
  for (const std::string& theirs : bootstrap.all_gather(std::to_string(mine.value))) {
    least = std::min(least, Bytes{std::stoll(theirs)});
  }
  return least;
}

// The capacities of this node's devices: options list capacities by the job's devices, and a
// platform knows its own node's devices.
std::vector<Bytes> memory_here(const NodeLayout& nodes, int node, const JobOptions& options) {
  const std::vector<Bytes>& asked = options.platform.device_memory;
  if (nodes.nodes() == 1 || asked.size() <= 1) return asked;
  if (static_cast<int>(asked.size()) != options.devices) {
    fail(ErrorKind::kUsage,
         "--device-memory names {} capacities for {} devices: give one, or one each", asked.size(),
         options.devices);
  }
  std::vector<Bytes> here;
  for (const int rank : nodes.ranks_of(node)) here.push_back(asked[static_cast<std::size_t>(rank)]);
  return here;
}

int core_of(const Cores& cores, int device) {
  return cores[static_cast<std::size_t>(device) % cores.size()];
}

// A rank's message to the other ranks of its node: the CPUs that the rank may use, and the
// CPUs near each device.
struct RankCpus {
  Cores allowed{};
  std::vector<Cores> near{};
};

std::string text_of(const RankCpus& cpus) {
  std::string text = line_of(cpus.allowed);
  for (const Cores& near : cpus.near) text += line_of(near);
  return text;
}

RankCpus rank_cpus_in(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  RankCpus cpus;
  if (std::getline(lines, line)) cpus.allowed = cores_in(line);
  while (std::getline(lines, line)) cpus.near.push_back(cores_in(line));
  return cpus;
}

// This rank's knowledge of each GPU: the CPUs near the GPU, none where NVML names none, and the
// memory near the GPU.
struct Known {
  RankCpus cpus{};
  std::vector<NearHost> hosts{};  // the CPUs are filled in by share_cpus()
};

Known ask_near(const std::vector<std::string>& gpus, const nvml::Nvml* nvml) {
  Known known{.cpus = {.allowed = allowed_cpus()}};
  for (const std::string& gpu : gpus) {
    const auto facts = nvml == nullptr ? std::nullopt : nvml->facts(pci_address_of(gpu));
    known.cpus.near.push_back(facts ? facts->near_cores : Cores{});
    known.hosts.push_back({.cpus = {}, .memory_node = facts ? facts->near_node : std::nullopt});
  }
  return known;
}

// Shares the node's cores among all devices of this rank's node, and gives this rank's devices
// theirs.
void share_cpus(std::vector<NearHost>& hosts, int own_rank, const std::vector<int>& ranks,
                const std::vector<RankCpus>& by_rank) {
  std::set<int> allowed;
  std::vector<Cores> near;    // near CPUs of all devices of the node, by rank
  std::size_t own_first = 0;  // index of this rank's first device in `near`
  for (const int rank : ranks) {
    const RankCpus& theirs = by_rank[static_cast<std::size_t>(rank)];
    if (rank == own_rank) own_first = near.size();
    allowed.insert(theirs.allowed.begin(), theirs.allowed.end());
    near.insert(near.end(), theirs.near.begin(), theirs.near.end());
  }
  const auto shares = host::share_cores(host::whole_cores({allowed.begin(), allowed.end()}), near);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i].cpus = shares[own_first + i];
}

std::string warning_of(const std::vector<RankCpus>& by_rank) {
  std::size_t devices = 0;
  std::ptrdiff_t unknown = 0;
  for (const RankCpus& cpus : by_rank) {
    devices += cpus.near.size();
    unknown += std::ranges::count_if(cpus.near, &Cores::empty);
  }
  if (unknown == 0) return "";
  return fmt::format(
      "--bind=near: nothing is known to be near {} of {} devices, which take their share of all "
      "cores: NVML (libnvidia-ml.so.1) is missing or names no CPUs",
      unknown, devices);
}

}  // namespace

NodeShare share_of_node(Bootstrap& bootstrap, const NodeLayout& nodes, const JobOptions& options) {
  const bool ranks_are_devices = options.launch == Launch::kProcesses;
  const int node = nodes.node_of(bootstrap.rank());
  const std::vector<Cores> cores = cores_of_nodes(bootstrap, nodes);
  NodeShare share;
  share.devices =
      ranks_are_devices ? static_cast<int>(nodes.ranks_of(node).size()) : options.devices;
  share.device = ranks_are_devices ? nodes.local_rank(bootstrap.rank()) : 0;
  share.cores = cores[static_cast<std::size_t>(node)];
  share.even_memory = least_share_of_memory(bootstrap, std::max(1, share.devices));
  share.asked_memory = memory_here(nodes, node, options);
  for (const Cores& of_node : cores) share.usable_cores += static_cast<int>(of_node.size());
  for (int device = 0; device < options.devices; ++device) {
    const bool is_rank = ranks_are_devices && device < bootstrap.size();
    const int on = is_rank ? nodes.node_of(device) : node;
    share.cores_of_devices.push_back(
        core_of(cores[static_cast<std::size_t>(on)], is_rank ? nodes.local_rank(device) : device));
  }
  return share;
}

int processes_on_gpu(Bootstrap& bootstrap, const NodeLayout& nodes, const std::string& gpu,
                     Sharing sharing) {
  std::vector<std::string> all;
  int rank = 0;
  for (const std::string& theirs : bootstrap.all_gather(gpu)) {
    all.push_back(theirs.empty() ? "" : fmt::format("{} {}", nodes.node_of(rank), theirs));
    ++rank;
  }
  for (auto first = all.begin(); sharing == Sharing::kRefused && first != all.end(); ++first) {
    const auto second = first->empty() ? all.end() : std::find(std::next(first), all.end(), *first);
    if (second == all.end()) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("ranks {} and {} share a GPU on {}: start as many ranks per node as it "
                            "has GPUs, name others with --gpus, or pass --oversubscribe",
                            first - all.begin(), second - all.begin(),
                            nodes.hosts[static_cast<std::size_t>(
                                nodes.node_of(static_cast<int>(first - all.begin())))]),
                Error::Reach::kAllRanks);
  }
  const std::string& mine = all[static_cast<std::size_t>(bootstrap.rank())];
  return mine.empty() ? 1 : static_cast<int>(std::count(all.begin(), all.end(), mine));
}

FoundHosts find_near_hosts(Bootstrap& bootstrap, const NodeLayout& nodes,
                           const std::vector<std::string>& gpus,
                           const std::function<std::unique_ptr<nvml::Nvml>()>& open_nvml) {
  Known known;
  attempt_together(bootstrap, [&] { known = ask_near(gpus, open_nvml().get()); });
  std::vector<RankCpus> by_rank;
  for (const std::string& text : bootstrap.all_gather(text_of(known.cpus))) {
    by_rank.push_back(rank_cpus_in(text));
  }
  attempt_together(bootstrap, [&] {
    const int rank = bootstrap.rank();
    share_cpus(known.hosts, rank, nodes.ranks_of(nodes.node_of(rank)), by_rank);
  });
  return {.hosts = std::move(known.hosts), .warning = warning_of(by_rank)};
}

}  // namespace tandem::bench
