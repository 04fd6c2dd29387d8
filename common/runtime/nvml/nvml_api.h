// SPDX-License-Identifier: Apache-2.0
//
// The functions of NVIDIA's management library that this project uses, as a table. The library
// comes with the driver, and its header with neither the driver nor every toolkit, so the few types
// and numbers are written down from the documented interface (NVML API Reference), which is stable:
// functions keep their name and signature, and changed ones get a suffix.
#pragma once

#include <memory>
#include <optional>

namespace tandem::nvml {

using Result = int;       // nvmlReturn_t
using DeviceRef = void*;  // nvmlDevice_t

inline constexpr Result kSuccess = 0;
inline constexpr Result kInsufficientSize = 7;

inline constexpr unsigned kClockSm = 1;         // nvmlClockType_t
inline constexpr unsigned kClockMemory = 2;     // nvmlClockType_t
inline constexpr unsigned kTemperatureGpu = 0;  // nvmlTemperatureSensors_t
inline constexpr unsigned kScopeNode = 0;       // nvmlAffinityScope_t
inline constexpr unsigned kRemoteGpu = 0;       // nvmlIntNvLinkDeviceType_t
inline constexpr unsigned kRemoteSwitch = 2;    // nvmlIntNvLinkDeviceType_t
inline constexpr unsigned kPeerRead = 0;        // nvmlGpuP2PCapsIndex_t
inline constexpr unsigned kPeerWrite = 1;       // nvmlGpuP2PCapsIndex_t
inline constexpr unsigned kPeerOk = 0;          // nvmlGpuP2PStatus_t
inline constexpr unsigned kPeerUnknown = 6;     // nvmlGpuP2PStatus_t

// nvmlPciInfo_t
struct PciInfo {
  char legacy_address[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char address[32];
};

// nvmlViolationTime_t
struct ViolationTime {
  unsigned long long microseconds;  // time of the reading
  unsigned long long nanoseconds;   // time held down since the driver was loaded
};

// nvmlFieldValue_t; the counters that are asked for here lie in its value as 64-bit numbers.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long microseconds;
  long long latency_microseconds;
  int type;  // nvmlValueType_t
  Result result;
  unsigned long long value;
};
inline constexpr int kUnsigned64 = 3;  // nvmlValueType_t

// nvmlMemory_t, in bytes
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// The table of functions. A function that the driver may lack is null: its fact is then unknown.
struct Api {
  Result (*init)() = nullptr;                                       // nvmlInit_v2
  Result (*shutdown)() = nullptr;                                   // nvmlShutdown
  Result (*driver_version)(char* text, unsigned length) = nullptr;  // nvmlSystemGetDriverVersion
  Result (*by_pci_address)(const char* address, DeviceRef*) = nullptr;  // ...GetHandleByPciBusId_v2
  Result (*name)(DeviceRef, char* text, unsigned length) = nullptr;     // ...GetName
  Result (*memory)(DeviceRef, Memory*) = nullptr;                       // ...GetMemoryInfo
  Result (*clock)(DeviceRef, unsigned type, unsigned* mhz) = nullptr;   // ...GetClockInfo
  Result (*power)(DeviceRef, unsigned* milliwatts) = nullptr;           // ...GetPowerUsage
  // ...GetTotalEnergyConsumption: since the driver was loaded; from Volta on
  Result (*energy)(DeviceRef, unsigned long long* millijoules) = nullptr;
  Result (*temperature)(DeviceRef, unsigned sensor, unsigned* celsius) = nullptr;
  // ...GetCurrentClocksThrottleReasons, which newer drivers keep beside ...EventReasons
  Result (*clock_limits)(DeviceRef, unsigned long long* reasons) = nullptr;
  Result (*mig_mode)(DeviceRef, unsigned* current, unsigned* pending) = nullptr;
  Result (*compute_mode)(DeviceRef, int* mode) = nullptr;
  // With a count of 0 and no infos the function returns the number of processes in `count`.
  Result (*compute_processes)(DeviceRef, unsigned* count, void* infos) = nullptr;
  Result (*cpu_affinity)(DeviceRef, unsigned words, unsigned long* mask) = nullptr;
  Result (*memory_affinity)(DeviceRef, unsigned words, unsigned long* mask,
                            unsigned scope) = nullptr;
  Result (*nvlink_state)(DeviceRef, unsigned link, unsigned* active) = nullptr;
  Result (*nvlink_remote_type)(DeviceRef, unsigned link, unsigned* type) = nullptr;
  Result (*nvlink_remote_pci)(DeviceRef, unsigned link, PciInfo*) = nullptr;
  Result (*common_ancestor)(DeviceRef, DeviceRef, unsigned* level) = nullptr;
  Result (*p2p_status)(DeviceRef, DeviceRef, unsigned capability, unsigned* status) = nullptr;
  Result (*violation)(DeviceRef, unsigned policy, ViolationTime*) = nullptr;
  Result (*field_values)(DeviceRef, int count, FieldValue*) = nullptr;
};

// Loads the driver's own functions. Null where there is no libnvidia-ml.so.1 or the library lacks
// what is needed to find a GPU. The library is never unloaded.
[[nodiscard]] std::unique_ptr<const Api> load_api();

// A bound above NVLINK_MAX_LINKS of any GPU so far; asking for a link that is not there ends the
// search.
inline constexpr unsigned kMostNvlinks = 64;

// The value that a function returns; absent where the driver lacks the function or the call fails
// for this GPU.
template <class Value, class Function, class... Arguments>
std::optional<Value> told(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

}  // namespace tandem::nvml
