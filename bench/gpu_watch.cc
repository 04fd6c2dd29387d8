// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_watch.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/results/record_text.h"

namespace tandem::bench {
namespace {

using results::GpuReading;
using results::GpuRecord;

// "00000000:3B:00.0" of "00000000:3B:00.0 GPU-5f0e...".
std::string pci_address(const std::string& hardware) {
  return hardware.substr(0, hardware.find(' '));
}

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
          .driver = facts.driver,
          .compute_mode = facts.compute_mode,
          .mig = facts.mig,
          .nvlinks = facts.nvlinks,
          .processes = facts.processes,
          .before = {},
          .after = {}};
}

std::vector<WatchedDevice> devices_of(const Place& place, Launch launch) {
  if (place.platform->backend() != Backend::kCuda) return {};
  if (launch == Launch::kProcesses) {
    return {{.device = place.communicator->rank(), .hardware = place.device->hardware()}};
  }
  std::vector<WatchedDevice> devices;
  for (int i = 0; i < place.platform->device_count(); ++i) {
    devices.push_back({.device = i, .hardware = place.platform->device(i).hardware()});
  }
  return devices;
}

}  // namespace

GpuWatch::GpuWatch(std::vector<WatchedDevice> devices, std::unique_ptr<nvml::Nvml> nvml)
    : devices_(std::move(devices)), nvml_(std::move(nvml)) {}

GpuWatch::GpuWatch(const Place& place, Launch launch)
    : GpuWatch(devices_of(place, launch),
               place.platform->backend() == Backend::kCuda ? nvml::Nvml::open() : nullptr) {}

void GpuWatch::before_samples() {
  if (!nvml_) return;
  for (const WatchedDevice& device : devices_) {
    const std::string address = pci_address(device.hardware);
    const auto facts = nvml_->facts(address);
    const auto state = nvml_->state(address);
    if (!facts || !state) continue;
    records_.push_back(record_of(device, *facts));
    records_.back().before = reading_of(*state);
  }
}

void GpuWatch::after_samples() {
  for (GpuRecord& record : records_) {
    if (const auto state = nvml_->state(pci_address(record.hardware))) {
      record.after = reading_of(*state);
    }
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

}  // namespace tandem::bench
