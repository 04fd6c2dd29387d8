// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bench/job/job.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/results/launch_record.h"
#include "common/runtime/nvml/nvml.h"

namespace tandem::bench {

// A device of this process, by its number in the whole job, and the hardware of the device
// (Device::hardware()).
struct WatchedDevice {
  int device = 0;
  std::string hardware;
};

// Says during a warm-up when clocks are steady. Reads clocks, power and the reasons that hold GPUs'
// clocks down, before and after a launch's samples; energy, and how long clocks were held down, in
// between; and the links between GPUs. Without NVML, or on the host, the watch has no records.
class GpuWatch {
 public:
  // `neighbours` are all devices of the job on this node, its own among them. `nvml` may be absent.
  GpuWatch(std::vector<WatchedDevice> devices, std::vector<WatchedDevice> neighbours,
           std::unique_ptr<nvml::Nvml> nvml);

  // Uses the driver's own NVML, for the GPUs that this rank speaks for. Collective.
  GpuWatch(Bootstrap& bootstrap, const Job& job);

  // Reads the SM clocks; to be called during the warm-up, while the GPUs are at work.
  void read_clocks();
  // Whether each GPU's clock keeps its level, about which it may move: false before six readings.
  // True where none can be read.
  [[nodiscard]] bool are_clocks_steady() const;
  // Reads the clocks if the last reading is a tenth of a second old, and says whether they are
  // steady on all ranks. Collective.
  [[nodiscard]] bool is_steady(Communicator& ranks);

  void before_samples();
  void after_samples();

  [[nodiscard]] const std::vector<results::GpuRecord>& records() const { return records_; }

  // The records of all ranks, by device, the same on every rank. Collective.
  [[nodiscard]] std::vector<results::GpuRecord> gather(Bootstrap& bootstrap) const;

 private:
  // Between the halves of the latest readings; absent where there are too few.
  [[nodiscard]] std::optional<double> drift_of(const WatchedDevice& device) const;
  [[nodiscard]] std::vector<results::GpuPeer> peers_of(const WatchedDevice& device) const;

  const std::vector<WatchedDevice> devices_;
  const std::vector<WatchedDevice> neighbours_;
  const std::unique_ptr<nvml::Nvml> nvml_;
  // The devices that NVML knows, with their counters before the samples.
  std::vector<results::GpuRecord> records_;
  std::vector<nvml::HeldDown> counters_;
  std::vector<std::optional<std::uint64_t>> energy_;  // as counters_
  std::map<int, std::vector<int>> clocks_;            // the readings in MHz, by device
  TimePoint clocks_read_{};
  TimePoint begin_{};
};

// The energy of all GPUs, each once, over `steps`; absent where the driver does not report it of
// one, or where one of the job's devices has no record.
[[nodiscard]] std::optional<double> joules_per_step(const std::vector<results::GpuRecord>& gpus,
                                                    int devices, std::int64_t steps);

// A line for each watched GPU whose clocks were held down in between.
[[nodiscard]] std::vector<std::string> slowdown_warnings(
    const std::vector<results::GpuRecord>& gpus);

}  // namespace tandem::bench
