// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/gpu_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/base/units.h"
#include "common/runtime/device.h"

namespace tandem::bench {
namespace {

using results::GpuPeer;
using results::GpuReading;
using results::GpuRecord;

GpuReading reading_of(const nvml::GpuState& state) {
  return {.sm_mhz = state.sm_mhz,
          .memory_mhz = state.memory_mhz,
          .watts = state.watts,
          .celsius = state.celsius,
          .slowed_by = state.slowed_by};
}

GpuRecord record_of(const WatchedDevice& device, const nvml::GpuFacts& facts) {
  return {.device = device.device,
          .hardware = device.hardware,
          .name = facts.name,
          .memory_bytes = facts.memory_bytes,
          .pci = pci_address_of(device.hardware),
          .numa_node = facts.near_node,
          .driver = facts.driver,
          .compute_mode = facts.compute_mode,
          .mig = facts.mig,
          .nvlinks = facts.nvlinks,
          .processes = facts.processes,
          .peers = {},
          .before = {},
          .after = {},
          .watched_ms = {},
          .held_down_ms = {}};
}

std::vector<WatchedDevice> devices_of(const Job& job) {
  if (job.platform->backend() != Backend::kCuda) return {};
  if (job.launch == Launch::kProcesses) {
    return {{.device = job.communicator->rank(), .hardware = job.device->hardware()}};
  }
  std::vector<WatchedDevice> devices;
  for (int i = 0; i < job.platform->device_count(); ++i) {
    devices.push_back({.device = i, .hardware = job.platform->device(i).hardware()});
  }
  return devices;
}

// The devices of the whole job that lie on this node.
std::vector<WatchedDevice> neighbours_of(Bootstrap& bootstrap, const NodeLayout& nodes,
                                         const std::vector<WatchedDevice>& devices) {
  std::string mine;
  for (const auto& device : devices) {
    mine += fmt::format("{} {}\n", device.device, device.hardware);
  }
  const std::vector<std::string> by_rank = bootstrap.all_gather(mine);
  std::vector<WatchedDevice> all;
  for (const int rank : nodes.ranks_of(nodes.node_of(bootstrap.rank()))) {
    std::istringstream lines(by_rank[static_cast<std::size_t>(rank)]);
    for (WatchedDevice device; lines >> device.device;) {
      std::getline(lines >> std::ws, device.hardware);
      all.push_back(device);
    }
  }
  return all;
}

double milliseconds(Nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

GpuWatch::GpuWatch(std::vector<WatchedDevice> devices, std::vector<WatchedDevice> neighbours,
                   std::unique_ptr<nvml::Nvml> nvml)
    : devices_(std::move(devices)), neighbours_(std::move(neighbours)), nvml_(std::move(nvml)) {}

GpuWatch::GpuWatch(Bootstrap& bootstrap, const Job& job)
    : GpuWatch(devices_of(job), neighbours_of(bootstrap, job.nodes, devices_of(job)),
               job.platform->backend() == Backend::kCuda ? nvml::Nvml::open() : nullptr) {}

std::vector<GpuPeer> GpuWatch::peers_of(const WatchedDevice& device) const {
  std::vector<GpuPeer> peers;
  const std::string address = pci_address_of(device.hardware);
  for (const WatchedDevice& other : neighbours_) {
    if (other.device == device.device) continue;
    GpuPeer peer{.device = other.device, .peer_access = {}, .nvlinks = {}, .path = {}};
    const std::string there = pci_address_of(other.hardware);
    if (there == address) {
      peer.path = "same GPU";
    } else if (const auto pair = nvml_->pair(address, there)) {
      peer.peer_access = pair->peer_access;
      peer.nvlinks = pair->nvlinks;
      peer.path = pair->path;
    }
    peers.push_back(peer);
  }
  return peers;
}

void GpuWatch::before_samples() {
  if (!nvml_) return;
  for (const WatchedDevice& device : devices_) {
    const std::string address = pci_address_of(device.hardware);
    const auto facts = nvml_->facts(address);
    const auto state = nvml_->state(address);
    if (!facts || !state) continue;
    records_.push_back(record_of(device, *facts));
    records_.back().peers = peers_of(device);
    records_.back().before = reading_of(*state);
  }
  // The counters are read last, close to the samples.
  for (const GpuRecord& record : records_) counters_.push_back(nvml_->held_down(record.pci));
  begin_ = Clock::now();
}

void GpuWatch::after_samples() {
  const Nanoseconds watched = Clock::now() - begin_;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    GpuRecord& record = records_[i];
    const nvml::HeldDown counters = nvml_->held_down(record.pci);
    for (const auto& [cause, time] : nvml::between(counters_[i], counters)) {
      record.held_down_ms[cause] = milliseconds(time);
    }
    record.watched_ms = milliseconds(watched);
    if (const auto state = nvml_->state(record.pci)) record.after = reading_of(*state);
  }
}

std::vector<GpuRecord> GpuWatch::gather(Bootstrap& bootstrap) const {
  std::string mine;
  for (const GpuRecord& record : records_) mine += results::to_json_line(record) + '\n';
  std::vector<GpuRecord> all;
  for (const std::string& theirs : bootstrap.all_gather(mine)) {
    std::istringstream lines(theirs);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(results::parse_gpu(line, "a rank's GPU"));
    }
  }
  std::ranges::sort(all, {}, &GpuRecord::device);
  return all;
}

std::vector<std::string> slowdown_warnings(const std::vector<GpuRecord>& gpus) {
  std::vector<std::string> lines;
  for (const GpuRecord& gpu : gpus) {
    for (const auto& [cause, ms] : gpu.held_down_ms) {
      if (ms <= 0) continue;
      lines.push_back(fmt::format("device {} ({}): {} held its clocks down for {:.0f} of {:.0f} ms",
                                  gpu.device, gpu.pci, cause, ms, gpu.watched_ms.value_or(0)));
    }
  }
  return lines;
}

}  // namespace tandem::bench
