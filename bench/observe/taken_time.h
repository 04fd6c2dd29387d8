// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// The kernel's counters of this process, and of the CPUs that its threads may use, in seconds since
// some start. A figure that the kernel does not report is absent or empty.
struct KernelCounters {
  struct Thread {
    std::vector<int> cpus;  // the CPUs that the thread may use
    double ran = 0;
    double waited = 0;  // the run delay: the thread could run, and others had its CPUs
  };
  struct Cpu {
    double busy = 0;
    double stolen = 0;
  };
  std::map<int, Thread> threads;  // by the thread's number
  std::map<int, Cpu> cpus;
  double ran = 0;                           // by all threads, and by those that have ended
  std::map<std::string, double> throttled;  // by control group, over all its CPUs
  std::optional<double> slowest_mhz;        // the lowest present clock of these CPUs
  std::int64_t involuntary_switches = 0;
  std::int64_t major_faults = 0;
};
[[nodiscard]] KernelCounters read_counters(const std::filesystem::path& root);

// One process's part of a launch: what passed between two readings.
struct ProcessShare {
  // Threads that may use the same CPUs.
  struct Group {
    std::vector<int> cpus;
    double ran = 0;     // by all of them
    double waited = 0;  // by the one that waited longest
  };
  struct Cpu {
    int number = 0;
    double busy = 0;
    double stolen = 0;
  };
  double window = 0;
  std::vector<Group> groups{};
  std::vector<Cpu> cpus{};
  std::optional<double> throttled{};
  std::optional<double> slowest_mhz;
  std::int64_t involuntary_switches = 0;
  std::int64_t major_faults = 0;
};
[[nodiscard]] ProcessShare between(const KernelCounters& before, const KernelCounters& after,
                                   Seconds window);

// Time that others took from the processes of a launch, by node. For a group of threads it is
// min(run delay, mean busy time of the group's CPUs - the launch's own time on them). So threads of
// the launch that wait for each other do not count, such as the two of a host device, which share
// one core.
[[nodiscard]] results::TakenTime taken_from(
    const std::vector<std::vector<ProcessShare>>& processes_by_node);

// Watches what others take from this job while its samples run. Not thread-safe.
class TakenTimeWatch {
 public:
  void begin();
  void end();
  // Collective; the same on every rank. To be called after end().
  [[nodiscard]] results::TakenTime gather(Bootstrap& bootstrap, const NodeLayout& nodes) const;

 private:
  KernelCounters before_;
  TimePoint begin_{};
  ProcessShare found_;
};

}  // namespace tandem::bench
