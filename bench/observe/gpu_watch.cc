// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/gpu_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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
          .processes = facts.processes};
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

constexpr Nanoseconds kClockPeriod = std::chrono::milliseconds(100);
constexpr std::size_t kFewestReadings = 6;
constexpr std::size_t kClockReadings = 20;  // two seconds

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

void GpuWatch::read_clocks() {
  clocks_read_ = Clock::now();
  if (!nvml_) return;
  for (const WatchedDevice& device : devices_) {
    const auto mhz = nvml_->sm_clock(pci_address_of(device.hardware));
    if (!mhz) continue;
    std::vector<int>& readings = clocks_[device.device];
    if (readings.size() == kClockReadings) readings.erase(readings.begin());
    readings.push_back(*mhz);
  }
}

std::optional<double> GpuWatch::drift_of(const WatchedDevice& device) const {
  const auto found = clocks_.find(device.device);
  if (found == clocks_.end() || found->second.size() < kFewestReadings) return std::nullopt;
  const std::vector<int>& all = found->second;
  const auto half = std::ssize(all) / 2;
  const auto [lower, higher] = std::minmax(
      {std::reduce(all.begin(), all.begin() + half), std::reduce(all.end() - half, all.end())});
  return lower > 0 ? std::optional(1.0 * higher / lower - 1) : std::nullopt;
}

bool GpuWatch::are_clocks_steady() const {
  return std::ranges::all_of(devices_, [this](const WatchedDevice& one) {
    return !clocks_.contains(one.device) || drift_of(one).value_or(1) <= results::kSteadyClock;
  });
}

bool GpuWatch::is_steady(Communicator& ranks) {
  if (Clock::now() - clocks_read_ >= kClockPeriod) read_clocks();
  return std::ranges::min(ranks.all_gather(are_clocks_steady() ? 1.0 : 0.0)) > 0;
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
    records_.back().clock_drift = drift_of(device);
  }
  // The counters are read last, close to the samples.
  for (const GpuRecord& record : records_) {
    counters_.push_back(nvml_->held_down(record.pci));
    energy_.push_back(nvml_->energy(record.pci));
  }
  begin_ = Clock::now();
}

void GpuWatch::after_samples() {
  const double watched_ms = milliseconds(Clock::now() - begin_);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    GpuRecord& record = records_[i];
    const auto energy = nvml_->energy(record.pci);
    if (energy && energy_[i] && *energy >= *energy_[i] && !record.mig.value_or(false)) {
      record.joules = static_cast<double>(*energy - *energy_[i]) * 1e-3;
    }
    const nvml::HeldDown counters = nvml_->held_down(record.pci);
    // The counters are read around the watched time, and count that reading too.
    for (const auto& [cause, time] : nvml::between(counters_[i], counters)) {
      record.held_down_ms[cause] = std::min(milliseconds(time), watched_ms);
    }
    record.watched_ms = watched_ms;
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

std::optional<double> joules_per_step(const std::vector<GpuRecord>& gpus, int devices,
                                      std::int64_t steps) {
  if (gpus.empty() || std::ssize(gpus) != devices || steps == 0) return std::nullopt;
  std::map<std::string, double> by_gpu;  // devices may share one
  for (const GpuRecord& gpu : gpus) {
    if (!gpu.joules) return std::nullopt;
    by_gpu[gpu.hardware] = *gpu.joules;
  }
  double sum = 0;
  for (const auto& [hardware, joules] : by_gpu) sum += joules;
  return sum / static_cast<double>(steps);
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
