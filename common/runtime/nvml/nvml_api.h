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

// The functions: X(place, name, parameters). Energy is counted since the driver was loaded, from
// Volta on. Newer drivers keep the clocks' throttle reasons beside their event reasons. With a
// count of 0 and no infos, the number of processes is returned in `count`.
#define TANDEM_EACH_NVML_CALL(X)                                                                   \
  X(init, nvmlInit_v2, ())                                                                         \
  X(shutdown, nvmlShutdown, ())                                                                    \
  X(driver_version, nvmlSystemGetDriverVersion, (char* text, unsigned length))                     \
  X(by_pci_address, nvmlDeviceGetHandleByPciBusId_v2, (const char* address, DeviceRef*))           \
  X(name, nvmlDeviceGetName, (DeviceRef, char* text, unsigned length))                             \
  X(memory, nvmlDeviceGetMemoryInfo, (DeviceRef, Memory*))                                         \
  X(clock, nvmlDeviceGetClockInfo, (DeviceRef, unsigned type, unsigned* mhz))                      \
  X(power, nvmlDeviceGetPowerUsage, (DeviceRef, unsigned* milliwatts))                             \
  X(energy, nvmlDeviceGetTotalEnergyConsumption, (DeviceRef, unsigned long long* millijoules))     \
  X(temperature, nvmlDeviceGetTemperature, (DeviceRef, unsigned sensor, unsigned* celsius))        \
  X(clock_limits, nvmlDeviceGetCurrentClocksThrottleReasons,                                       \
    (DeviceRef, unsigned long long* reasons))                                                      \
  X(mig_mode, nvmlDeviceGetMigMode, (DeviceRef, unsigned* current, unsigned* pending))             \
  X(compute_mode, nvmlDeviceGetComputeMode, (DeviceRef, int* mode))                                \
  X(compute_processes, nvmlDeviceGetComputeRunningProcesses_v3,                                    \
    (DeviceRef, unsigned* count, void* infos))                                                     \
  X(cpu_affinity, nvmlDeviceGetCpuAffinity, (DeviceRef, unsigned words, unsigned long* mask))      \
  X(memory_affinity, nvmlDeviceGetMemoryAffinity,                                                  \
    (DeviceRef, unsigned words, unsigned long* mask, unsigned scope))                              \
  X(nvlink_state, nvmlDeviceGetNvLinkState, (DeviceRef, unsigned link, unsigned* active))          \
  X(nvlink_remote_type, nvmlDeviceGetNvLinkRemoteDeviceType,                                       \
    (DeviceRef, unsigned link, unsigned* type))                                                    \
  X(nvlink_remote_pci, nvmlDeviceGetNvLinkRemotePciInfo_v2, (DeviceRef, unsigned link, PciInfo*))  \
  X(common_ancestor, nvmlDeviceGetTopologyCommonAncestor, (DeviceRef, DeviceRef, unsigned* level)) \
  X(p2p_status, nvmlDeviceGetP2PStatus,                                                            \
    (DeviceRef, DeviceRef, unsigned capability, unsigned* status))                                 \
  X(violation, nvmlDeviceGetViolationStatus, (DeviceRef, unsigned policy, ViolationTime*))         \
  X(field_values, nvmlDeviceGetFieldValues, (DeviceRef, int count, FieldValue*))

// A function that the driver may lack is null: its fact is then unknown.
struct Api {
#define TANDEM_PLACE(place, name, parameters) Result(*place) parameters = nullptr;
  TANDEM_EACH_NVML_CALL(TANDEM_PLACE)
#undef TANDEM_PLACE
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
std::optional<Value> answered(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

}  // namespace tandem::nvml
