// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/nvml/nvml_api.h"

#include <dlfcn.h>

namespace tandem::nvml {

namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::unique_ptr<const Api> load_api() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto api = std::make_unique<Api>();
  find(library, "nvmlInit_v2", api->init);
  find(library, "nvmlShutdown", api->shutdown);
  find(library, "nvmlSystemGetDriverVersion", api->driver_version);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", api->by_pci_address);
  find(library, "nvmlDeviceGetName", api->name);
  find(library, "nvmlDeviceGetMemoryInfo", api->memory);
  find(library, "nvmlDeviceGetClockInfo", api->clock);
  find(library, "nvmlDeviceGetPowerUsage", api->power);
  find(library, "nvmlDeviceGetTotalEnergyConsumption", api->energy);
  find(library, "nvmlDeviceGetTemperature", api->temperature);
  find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", api->clock_limits);
  find(library, "nvmlDeviceGetMigMode", api->mig_mode);
  find(library, "nvmlDeviceGetComputeMode", api->compute_mode);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", api->compute_processes);
  find(library, "nvmlDeviceGetCpuAffinity", api->cpu_affinity);
  find(library, "nvmlDeviceGetMemoryAffinity", api->memory_affinity);
  find(library, "nvmlDeviceGetNvLinkState", api->nvlink_state);
  find(library, "nvmlDeviceGetNvLinkRemoteDeviceType", api->nvlink_remote_type);
  find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", api->nvlink_remote_pci);
  find(library, "nvmlDeviceGetTopologyCommonAncestor", api->common_ancestor);
  find(library, "nvmlDeviceGetP2PStatus", api->p2p_status);
  find(library, "nvmlDeviceGetViolationStatus", api->violation);
  find(library, "nvmlDeviceGetFieldValues", api->field_values);
  const bool enough =
      api->init != nullptr && api->shutdown != nullptr && api->by_pci_address != nullptr;
  return enough ? std::move(api) : nullptr;
}

}  // namespace tandem::nvml
