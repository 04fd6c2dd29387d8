// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// The connection of two GPUs. Absent and empty fields: the driver does not report them.
struct PairFacts {
  std::optional<bool> peer_access;  // each GPU may read and write the other's memory
  // Active NVLinks between the GPUs: direct links, and through switches as many as the GPU with
  // fewer has to switches (all of a machine's switches are taken to be one fabric).
  std::optional<int> nvlinks;
  // The place where the GPUs' PCIe paths meet: "same board", "PCIe switch", "PCIe switches", "host
  // bridge", "NUMA node" or "system" (between NUMA nodes).
  std::string path;

  bool operator==(const PairFacts&) const = default;
};

// How long each cause has held a GPU's clocks down since the driver was loaded: "power cap",
// "thermal slowdown", "board limit", "reliability". A cause that the driver does not count is
// absent. Drivers advance these counters in steps, some of 100 ms.
using HeldDown = std::map<std::string, Nanoseconds>;

[[nodiscard]] HeldDown held_down(const Api& api, DeviceRef gpu);

// The increase between two readings, of the causes that both readings have; a counter that went
// back (the driver was loaded anew) is left out.
[[nodiscard]] HeldDown between(const HeldDown& before, const HeldDown& after);

// The facts of a GPU that do not change during a launch. Absent and empty fields: the driver does
// not report it.
struct GpuFacts {
  std::string driver;                        // version of the driver
  std::string name;                          // "NVIDIA H200"
  std::optional<std::int64_t> memory_bytes;  // total memory
  std::optional<bool> mig;                   // divided into instances; a device may be an instance
  std::string compute_mode;                  // "default", "prohibited" or "exclusive process"
  std::optional<int> nvlinks;                // active links; absent on a GPU without NVLink
  std::vector<int> near_cores;               // OS numbers of the CPUs near the GPU
  std::optional<int> near_node;              // OS number of the nearest NUMA node of host memory
  std::optional<int> processes;  // processes that compute on the GPU, perhaps this one among them

  bool operator==(const GpuFacts&) const = default;
};

// The changing state of a GPU; for a MIG instance, of the whole GPU.
struct GpuState {
  std::optional<int> sm_mhz;
  std::optional<int> memory_mhz;
  std::optional<double> watts{};
  std::optional<int> celsius;
  // The causes that slow the clocks at this moment and make a measurement one of the cooling or of
  // the supply: "power cap", "thermal slowdown (hardware)", ... Idleness is not a cause.
  std::vector<std::string> slowed_by;

  bool operator==(const GpuState&) const = default;
};

// NVIDIA's management library. Each object is used by one thread at a time; several objects may be
// open at once.
class Nvml : boost::noncopyable {
 public:
  // Opens the driver's library. Null where there is none, or where the library cannot be started.
  [[nodiscard]] static std::unique_ptr<Nvml> open();

  // Opens the library over this table, which must outlive the object. Null where the library cannot
  // be started.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const Api& api);

  ~Nvml();

  // The facts of the GPU at a PCI address, "00000000:3B:00.0" (case and leading zeros of the domain
  // as CUDA prints addresses). Absent where NVML knows no such GPU.
  [[nodiscard]] std::optional<GpuFacts> facts(const std::string& pci_address) const;
  [[nodiscard]] std::optional<GpuState> state(const std::string& pci_address) const;
  // The SM clock alone, in MHz.
  [[nodiscard]] std::optional<int> sm_clock(const std::string& pci_address) const;
  // Millijoules since the driver was loaded; the counter moves in steps of up to 100 ms.
  [[nodiscard]] std::optional<std::uint64_t> energy(const std::string& pci_address) const;
  [[nodiscard]] HeldDown held_down(const std::string& pci_address) const;  // empty: no such GPU
  // The facts of two GPUs; absent also where both addresses are one GPU's (MIG instances).
  [[nodiscard]] std::optional<PairFacts> pair(const std::string& pci_address,
                                              const std::string& other) const;

 private:
  explicit Nvml(const Api& api) : api_(api) {}
  [[nodiscard]] std::optional<DeviceRef> find(const std::string& pci_address) const;

  const Api& api_;
};

// The words for those of NVML's clock event reasons that slow a GPU down while it works; a pure
// function of the bits (NVML API Reference, nvmlClocksEventReasons).
[[nodiscard]] std::vector<std::string> slowdowns_in(unsigned long long reasons);

}  // namespace tandem::nvml
