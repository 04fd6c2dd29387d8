// SPDX-License-Identifier: Apache-2.0
//
// What a launch tells of its GPUs, and of where its threads ran.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tandem::results {

// A GPU at one moment, as its driver told. Absent: it did not.
struct GpuReading {
  std::optional<double> sm_mhz;
  std::optional<double> memory_mhz;
  std::optional<double> watts;
  std::optional<double> celsius;
  std::vector<std::string> slowed_by;  // what held its clocks down: "power cap", ...
};

// What lies between a GPU and that of another device of the launch, on the same node. Absent and
// empty: the driver did not tell.
struct GpuPeer {
  int device = 0;                   // the other, over the whole job
  std::optional<bool> peer_access;  // as the driver has it; --p2p=off does not show here
  std::optional<int> nvlinks;       // active, direct or through switches
  std::string path;                 // where their PCIe paths meet: "host bridge", ...; "same GPU"
};

// The GPU that a device lies on. Absent and empty: the driver did not tell.
struct GpuRecord {
  int device = 0;                            // over the whole job
  std::string hardware;                      // PCI address and UUID
  std::string name;                          // "NVIDIA H200"
  std::optional<std::int64_t> memory_bytes;  // all that it has
  std::string pci;                           // address
  std::optional<int> numa_node;              // of host memory, the nearest
  std::string driver;                        // version
  std::string compute_mode;                  // "default", "prohibited", "exclusive process"
  std::optional<bool> mig;                   // divided into instances
  std::optional<int> nvlinks;                // active ones
  std::optional<int> processes;  // that compute on it, when measuring began; own ones among them
  std::vector<GpuPeer> peers;    // of the same node, by device
  GpuReading before;             // after the warm-up, while the last of its work may still run
  GpuReading after;              // after the last sample
  // From the first of these to the second, in ms, and how much of that each cause held its clocks
  // down: "power cap", "thermal slowdown", ...; a cause that the driver does not count is absent.
  std::optional<double> watched_ms;
  std::map<std::string, double> held_down_ms;
};

// Where the thread was that enqueued some phases of a device's step, as the operating system had
// it.
struct ThreadPlace {
  int device = 0;                   // over the whole job
  std::vector<std::string> phases;  // in the order of a step
  std::vector<int> cpus;            // OS numbers of the hardware threads that it might run on
  std::vector<int> numa_nodes;      // that these belong to; empty where the machine does not tell
};

}  // namespace tandem::results
