// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's management library as a table of functions over two GPUs, whose answers the tests set.
#pragma once

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml::testing {

// A GPU's answers; the tests change them.
struct FakeGpu {
  unsigned sm_mhz = 1980;
  unsigned long long memory_bytes = 150'754'820'096;
  Result clock_result = kSuccess;
  unsigned memory_mhz = 2619;
  unsigned milliwatts = 412500;
  unsigned long long millijoules = 7'000'000;
  unsigned celsius = 61;
  unsigned long long limits = 0;
  unsigned mig = 0;
  int compute_mode = 0;
  unsigned processes = 2;
  unsigned nvlinks = 18;  // and the last of them is down
  unsigned link_type = kRemoteSwitch;
  const char* link_address = "";  // of the other end, where that is a GPU
  unsigned long cpus[2] = {0b1010, 1};
  unsigned long nodes = 0b10;
  std::map<unsigned, unsigned long long> held_down{{0, 5'000'000}, {1, 0}};  // ns, by policy
};

// What both share.
struct FakeDriver {
  int open = 0;  // init minus shutdown
  Result init_result = kSuccess;
  unsigned path = 10;  // between the two
  unsigned peer_status = kPeerOk;
};

inline FakeGpu fake;
inline FakeGpu fake_peer;
inline FakeDriver fake_driver;
inline void reset_fakes() {
  fake = {};
  fake_peer = {};
  fake_driver = {};
}
inline constexpr Result kNotSupported = 3;
inline constexpr Result kNotFound = 6;
inline constexpr const char* kAddress = "00000000:3B:00.0";
inline constexpr const char* kPeerAddress = "00000000:AF:00.0";
inline FakeGpu& gpu_at(DeviceRef gpu) { return *static_cast<FakeGpu*>(gpu); }

// Clocks, power and what holds them down; modes and processes.
inline void set_states(Api& api) {
  api.clock = [](DeviceRef gpu, unsigned type, unsigned* mhz) {
    *mhz = type == kClockSm ? gpu_at(gpu).sm_mhz : gpu_at(gpu).memory_mhz;
    return gpu_at(gpu).clock_result;
  };
  api.power = [](DeviceRef gpu, unsigned* milliwatts) {
    *milliwatts = gpu_at(gpu).milliwatts;
    return kSuccess;
  };
  api.energy = [](DeviceRef gpu, unsigned long long* millijoules) {
    *millijoules = gpu_at(gpu).millijoules;
    return kSuccess;
  };
  api.temperature = [](DeviceRef gpu, unsigned, unsigned* celsius) {
    *celsius = gpu_at(gpu).celsius;
    return kSuccess;
  };
  api.clock_limits = [](DeviceRef gpu, unsigned long long* reasons) {
    *reasons = gpu_at(gpu).limits;
    return kSuccess;
  };
  api.mig_mode = [](DeviceRef gpu, unsigned* current, unsigned* pending) {
    *current = *pending = gpu_at(gpu).mig;
    return kSuccess;
  };
  api.compute_mode = [](DeviceRef gpu, int* mode) {
    *mode = gpu_at(gpu).compute_mode;
    return kSuccess;
  };
  api.compute_processes = [](DeviceRef gpu, unsigned* count, void*) {
    *count = gpu_at(gpu).processes;
    return gpu_at(gpu).processes == 0 ? kSuccess : kInsufficientSize;
  };
  api.violation = [](DeviceRef gpu, unsigned policy, ViolationTime* time) {
    const auto found = gpu_at(gpu).held_down.find(policy);
    if (found == gpu_at(gpu).held_down.end()) return kNotSupported;
    time->nanoseconds = found->second;
    return kSuccess;
  };
  api.field_values = [](DeviceRef, int, FieldValue* value) {
    value->result = kNotSupported;
    return kSuccess;
  };
}

// What lies near a GPU.
inline void set_neighbours(Api& api) {
  api.cpu_affinity = [](DeviceRef gpu, unsigned words, unsigned long* mask) {
    std::memset(mask, 0, words * sizeof(unsigned long));
    mask[0] = gpu_at(gpu).cpus[0];
    mask[1] = gpu_at(gpu).cpus[1];
    return kSuccess;
  };
  api.memory_affinity = [](DeviceRef gpu, unsigned words, unsigned long* mask, unsigned) {
    std::memset(mask, 0, words * sizeof(unsigned long));
    mask[0] = gpu_at(gpu).nodes;
    return kSuccess;
  };
  api.nvlink_state = [](DeviceRef gpu, unsigned link, unsigned* active) {
    if (link >= gpu_at(gpu).nvlinks) return kNotSupported;
    *active = link + 1 < gpu_at(gpu).nvlinks ? 1 : 0;
    return kSuccess;
  };
  api.nvlink_remote_type = [](DeviceRef gpu, unsigned, unsigned* type) {
    *type = gpu_at(gpu).link_type;
    return kSuccess;
  };
  api.nvlink_remote_pci = [](DeviceRef gpu, unsigned, PciInfo* info) {
    std::snprintf(info->address, sizeof info->address, "%s", gpu_at(gpu).link_address);
    return kSuccess;
  };
  api.common_ancestor = [](DeviceRef, DeviceRef, unsigned* level) {
    *level = fake_driver.path;
    return kSuccess;
  };
  api.p2p_status = [](DeviceRef, DeviceRef, unsigned, unsigned* status) {
    *status = fake_driver.peer_status;
    return kSuccess;
  };
}

inline Api fake_api() {
  Api api;
  set_states(api);
  set_neighbours(api);
  api.init = [] {
    if (fake_driver.init_result == kSuccess) ++fake_driver.open;
    return fake_driver.init_result;
  };
  api.shutdown = [] {
    --fake_driver.open;
    return kSuccess;
  };
  api.driver_version = [](char* text, unsigned length) {
    std::strncpy(text, "580.65.06", length);
    return kSuccess;
  };
  api.by_pci_address = [](const char* address, DeviceRef* gpu) {
    const std::string wanted = address;
    if (wanted != kAddress && wanted != kPeerAddress) return kNotFound;
    *gpu = wanted == kAddress ? &fake : &fake_peer;
    return kSuccess;
  };
  api.name = [](DeviceRef, char* text, unsigned length) {
    std::strncpy(text, "NVIDIA H200", length);
    return kSuccess;
  };
  api.memory = [](DeviceRef gpu, Memory* memory) {
    memory->total = gpu_at(gpu).memory_bytes;
    return kSuccess;
  };
  return api;
}

}  // namespace tandem::nvml::testing
