// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bench/job.h"
#include "common/comm/bootstrap.h"
#include "common/results/launch_record.h"
#include "common/runtime/nvml/nvml.h"

namespace tandem::bench {

// A device of this process, by its number in the whole job, and where it lies (Device::hardware()).
struct WatchedDevice {
  int device = 0;
  std::string hardware;
};

// Reads clocks, power and what holds them down before and after a launch's samples, and how long
// they were held down in between; and what lies between GPUs. Without NVML, or on the host, it
// knows nothing and says so by having no records.
class GpuWatch {
 public:
  // `neighbours` are all devices of the job on this node, its own among them. `nvml` may be absent.
  GpuWatch(std::vector<WatchedDevice> devices, std::vector<WatchedDevice> neighbours,
           std::unique_ptr<nvml::Nvml> nvml);

  // Collective. The driver's own NVML, for those GPUs of the place that this rank speaks for.
  GpuWatch(Bootstrap& bootstrap, const Place& place, Launch launch);

  void before_samples();
  void after_samples();

  [[nodiscard]] const std::vector<results::GpuRecord>& records() const { return records_; }

  // Collective: those of all ranks, by device, the same on every rank.
  [[nodiscard]] std::vector<results::GpuRecord> gather(Bootstrap& bootstrap) const;

 private:
  [[nodiscard]] std::vector<results::GpuPeer> peers_of(const WatchedDevice& device) const;

  const std::vector<WatchedDevice> devices_;
  const std::vector<WatchedDevice> neighbours_;
  const std::unique_ptr<nvml::Nvml> nvml_;
  // Of the devices that NVML knows, and what their counters were.
  std::vector<results::GpuRecord> records_;
  std::vector<nvml::HeldDown> counters_;
  TimePoint begin_{};
};

// A line for each GPU whose clocks were held down while it was watched.
[[nodiscard]] std::vector<std::string> slowdown_warnings(
    const std::vector<results::GpuRecord>& gpus);

}  // namespace tandem::bench
