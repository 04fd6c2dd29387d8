// SPDX-License-Identifier: Apache-2.0
//
// The facts of a launch's GPUs, and the places where its threads ran.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem::results {

// A GPU's state at one moment, as its driver reports. Absent: the driver reported none.
struct GpuReading {
  std::optional<double> sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> watts;
  std::optional<double> celsius;
  std::vector<std::string> slowed_by;  // causes of lowered clocks: "power cap", ...
};

// The path between a GPU and the GPU of another device of the launch on the same node. Absent and
// empty: the driver reported none.
struct GpuPeer {
  int device = 0;                   // the other device's number over the whole job
  std::optional<bool> peer_access;  // peer access by the driver's report, even with --p2p=off
  std::optional<int> nvlinks;       // active NVLinks, direct or through switches
  std::string path;                 // where both PCIe paths meet: "host bridge", ...; "same GPU"
};

// The GPU that a device lies on. Absent and empty: the driver reported none.
struct GpuRecord {
  int device = 0;                            // device number over the whole job
  std::string hardware;                      // PCI address and UUID
  std::string name;                          // "NVIDIA H200"
  std::optional<std::int64_t> memory_bytes;  // total memory
  std::string pci;                           // PCI address
  std::optional<int> numa_node;              // nearest NUMA node of host memory
  std::string driver;                        // driver version
  std::string compute_mode;                  // "default", "prohibited", "exclusive process"
  std::optional<bool> mig;                   // whether the GPU is divided into instances
  std::optional<int> nvlinks;                // active NVLinks
  std::optional<int> processes;              // computing processes at the start, own included
  std::vector<GpuPeer> peers;                // peers on the same node, by device
  GpuReading before;                         // after the warm-up, whose last work may still run
  GpuReading after;                          // after the last sample
  // The time between both readings in ms, and how much of that time each cause held the clocks
  // down: "power cap", "thermal slowdown", ...; a cause that the driver does not count is absent.
  std::optional<double> watched_ms;
  std::map<std::string, double> held_down_ms;
};

// The place, as the operating system saw it, of the thread that enqueued some phases of a device's
// step.
struct ThreadPlace {
  int device = 0;                   // device number over the whole job
  std::vector<std::string> phases;  // in the order of a step
  std::vector<int> cpus;            // OS numbers of the hardware threads allowed to the thread
  std::vector<int> numa_nodes;      // NUMA nodes of `cpus`; empty: not known
};

}  // namespace tandem::results
