// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bench/job/job.h"
#include "common/comm/bootstrap.h"
#include "common/results/launch_record.h"
#include "common/runtime/nvml/nvml.h"

namespace tandem::bench {

// A device of this process, by its number in the whole job, and the hardware of the device
// (Device::hardware()).
struct WatchedDevice {
  int device = 0;
  std::string hardware;
};

// Reads clocks, power and the reasons that hold GPUs' clocks down, before and after a launch's
// samples; how long clocks were held down in between; and the links between GPUs. Without NVML, or
// on the host, the watch has no records.
class GpuWatch {
 public:
  // `neighbours` are all devices of the job on this node, its own among them. `nvml` may be absent.
  GpuWatch(std::vector<WatchedDevice> devices, std::vector<WatchedDevice> neighbours,
           std::unique_ptr<nvml::Nvml> nvml);

  // Uses the driver's own NVML, for the GPUs that this rank speaks for. Collective.
  GpuWatch(Bootstrap& bootstrap, const Job& job);

  void before_samples();
  void after_samples();

  [[nodiscard]] const std::vector<results::GpuRecord>& records() const { return records_; }

  // The records of all ranks, by device, the same on every rank. Collective.
  [[nodiscard]] std::vector<results::GpuRecord> gather(Bootstrap& bootstrap) const;

 private:
  [[nodiscard]] std::vector<results::GpuPeer> peers_of(const WatchedDevice& device) const;

  const std::vector<WatchedDevice> devices_;
  const std::vector<WatchedDevice> neighbours_;
  const std::unique_ptr<nvml::Nvml> nvml_;
  // The devices that NVML knows, with their counters before the samples.
  std::vector<results::GpuRecord> records_;
  std::vector<nvml::HeldDown> counters_;
  TimePoint begin_{};
};

// A line for each watched GPU whose clocks were held down in between.
[[nodiscard]] std::vector<std::string> slowdown_warnings(
    const std::vector<results::GpuRecord>& gpus);

}  // namespace tandem::bench
