// SPDX-License-Identifier: Apache-2.0
//
// The functions of NVIDIA's management library that are used here, as a table. The library comes
// with the driver and its header with neither the driver nor every toolkit, so the few types and
// numbers are written down from its documented interface (NVML API Reference), which is stable:
// functions keep their name and signature, and changed ones get a suffix.
#pragma once

#include <memory>

namespace tandem::nvml {

using Result = int;       // nvmlReturn_t
using DeviceRef = void*;  // nvmlDevice_t

inline constexpr Result kSuccess = 0;
inline constexpr Result kInsufficientSize = 7;

inline constexpr unsigned kClockSm = 1;         // nvmlClockType_t
inline constexpr unsigned kClockMemory = 2;     // nvmlClockType_t
inline constexpr unsigned kTemperatureGpu = 0;  // nvmlTemperatureSensors_t

// Functions that a driver may lack are null: what they tell is then not known.
struct Api {
  Result (*init)() = nullptr;                                       // nvmlInit_v2
  Result (*shutdown)() = nullptr;                                   // nvmlShutdown
  Result (*driver_version)(char* text, unsigned length) = nullptr;  // nvmlSystemGetDriverVersion
  Result (*by_pci_address)(const char* address, DeviceRef*) = nullptr;  // ...GetHandleByPciBusId_v2
  Result (*clock)(DeviceRef, unsigned type, unsigned* mhz) = nullptr;   // ...GetClockInfo
  Result (*power)(DeviceRef, unsigned* milliwatts) = nullptr;           // ...GetPowerUsage
  Result (*temperature)(DeviceRef, unsigned sensor, unsigned* celsius) = nullptr;
  // ...GetCurrentClocksThrottleReasons, which newer drivers keep beside ...EventReasons
  Result (*clock_limits)(DeviceRef, unsigned long long* reasons) = nullptr;
  Result (*mig_mode)(DeviceRef, unsigned* current, unsigned* pending) = nullptr;
  Result (*compute_mode)(DeviceRef, int* mode) = nullptr;
  // With a count of 0 and no place for them it tells their number.
  Result (*compute_processes)(DeviceRef, unsigned* count, void* infos) = nullptr;
  Result (*cpu_affinity)(DeviceRef, unsigned words, unsigned long* mask) = nullptr;
  Result (*nvlink_state)(DeviceRef, unsigned link, unsigned* active) = nullptr;
};

// The driver's own. Absent where there is no libnvidia-ml.so.1 or it lacks what is needed to find a
// GPU. Never unloaded.
[[nodiscard]] std::unique_ptr<const Api> load_api();

}  // namespace tandem::nvml
