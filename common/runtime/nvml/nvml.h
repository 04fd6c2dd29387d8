// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/nvml/gpu_pair.h"
#include "common/runtime/nvml/held_down.h"
#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// What stays as it is during a launch. Absent and empty: the driver does not tell.
struct GpuFacts {
  std::string driver;                        // version
  std::string name;                          // "NVIDIA H200"
  std::optional<std::int64_t> memory_bytes;  // all that it has
  std::optional<bool> mig;                   // divided into instances, of which a device may be one
  std::string compute_mode;                  // "default", "prohibited" or "exclusive process"
  std::optional<int> nvlinks;                // active ones; none on a GPU that has no such links
  std::vector<int> near_cores;               // OS numbers of the CPUs on its side of the machine
  std::optional<int> near_node;  // the NUMA node of host memory that is nearest, by OS number
  std::optional<int> processes;  // that compute on it, this one among them where it does

  bool operator==(const GpuFacts&) const = default;
};

// What changes. Of a MIG instance: the whole GPU's.
struct GpuState {
  std::optional<int> sm_mhz;
  std::optional<int> memory_mhz;
  std::optional<double> watts;
  std::optional<int> celsius;
  // What holds the clocks down at this moment and makes a measurement one of the cooling or of the
  // supply: "power cap", "thermal slowdown (hardware)", ... Being idle is none.
  std::vector<std::string> slowed_by;

  bool operator==(const GpuState&) const = default;
};

// NVIDIA's management library, where there is one. Used by one thread at a time; several may be
// open at once.
class Nvml {
 public:
  // The driver's own. Absent where there is none, or where it cannot be started.
  [[nodiscard]] static std::unique_ptr<Nvml> open();

  // Over this table, which outlives it. Absent where it cannot be started.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const Api& api);

  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // By PCI address, "00000000:3B:00.0" (case and leading zeros of the domain as CUDA prints them).
  // Absent where NVML knows no such GPU.
  [[nodiscard]] std::optional<GpuFacts> facts(const std::string& pci_address) const;
  [[nodiscard]] std::optional<GpuState> state(const std::string& pci_address) const;
  [[nodiscard]] HeldDown held_down(const std::string& pci_address) const;  // empty where absent
  // Of two GPUs; absent also where both addresses are one GPU's (MIG instances of it).
  [[nodiscard]] std::optional<PairFacts> pair(const std::string& pci_address,
                                              const std::string& other) const;

 private:
  explicit Nvml(const Api& api) : api_(api) {}
  [[nodiscard]] std::optional<DeviceRef> find(const std::string& pci_address) const;

  const Api& api_;
};

// In words, those of NVML's clock event reasons that slow a GPU down while it works; a pure
// function of the bits (NVML API Reference, nvmlClocksEventReasons).
[[nodiscard]] std::vector<std::string> slowdowns_in(unsigned long long reasons);

}  // namespace tandem::nvml
