// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's management library as a table of functions over one GPU, whose answers the tests set.
#pragma once

#include <cstring>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml::testing {

// One GPU at one address; the tests change what it tells.
struct FakeGpu {
  unsigned sm_mhz = 1980;
  unsigned memory_mhz = 2619;
  unsigned milliwatts = 412500;
  unsigned celsius = 61;
  unsigned long long limits = 0;
  unsigned mig = 0;
  int compute_mode = 0;
  unsigned processes = 2;
  unsigned nvlinks = 18;  // and the last of them is down
  int open = 0;           // init minus shutdown
  Result init_result = kSuccess;
};

inline FakeGpu fake;
inline constexpr Result kNotSupported = 3;
inline constexpr Result kNotFound = 6;
inline constexpr const char* kAddress = "00000000:3B:00.0";

inline Api fake_api() {
  Api api;
  api.init = [] {
    if (fake.init_result == kSuccess) ++fake.open;
    return fake.init_result;
  };
  api.shutdown = [] {
    --fake.open;
    return kSuccess;
  };
  api.driver_version = [](char* text, unsigned length) {
    std::strncpy(text, "580.65.06", length);
    return kSuccess;
  };
  api.by_pci_address = [](const char* address, DeviceRef* gpu) {
    if (std::strcmp(address, kAddress) != 0) return kNotFound;
    *gpu = &fake;
    return kSuccess;
  };
  api.clock = [](DeviceRef, unsigned type, unsigned* mhz) {
    *mhz = type == kClockSm ? fake.sm_mhz : fake.memory_mhz;
    return kSuccess;
  };
  api.power = [](DeviceRef, unsigned* milliwatts) {
    *milliwatts = fake.milliwatts;
    return kSuccess;
  };
  api.temperature = [](DeviceRef, unsigned, unsigned* celsius) {
    *celsius = fake.celsius;
    return kSuccess;
  };
  api.clock_limits = [](DeviceRef, unsigned long long* reasons) {
    *reasons = fake.limits;
    return kSuccess;
  };
  api.mig_mode = [](DeviceRef, unsigned* current, unsigned* pending) {
    *current = *pending = fake.mig;
    return kSuccess;
  };
  api.compute_mode = [](DeviceRef, int* mode) {
    *mode = fake.compute_mode;
    return kSuccess;
  };
  api.compute_processes = [](DeviceRef, unsigned* count, void*) {
    *count = fake.processes;
    return fake.processes == 0 ? kSuccess : kInsufficientSize;
  };
  api.cpu_affinity = [](DeviceRef, unsigned words, unsigned long* mask) {
    std::memset(mask, 0, words * sizeof(unsigned long));
    mask[0] = 0b1010;
    mask[1] = 1;
    return kSuccess;
  };
  api.nvlink_state = [](DeviceRef, unsigned link, unsigned* active) {
    if (link >= fake.nvlinks) return kNotSupported;
    *active = link + 1 < fake.nvlinks ? 1 : 0;
    return kSuccess;
  };
  return api;
}

}  // namespace tandem::nvml::testing
