// SPDX-License-Identifier: Apache-2.0
//
// Devices of the pretended runtime: how many, which is current, what they are, who reaches whom.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "pretend/core/capture.h"
#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/memory.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

constexpr int kCudaMajor = TANDEM_PRETEND_CUDA;  // 12 or 13, by the build
using Properties =
    std::conditional_t<kCudaMajor == 12, abi::DeviceProperties12, abi::DeviceProperties13>;

// What the search for a function of the driver found, cudaDriverEntryPointQueryResult.
constexpr int kEntryFound = 0;     // cudaDriverEntryPointSuccess
constexpr int kEntryNotFound = 1;  // cudaDriverEntryPointSymbolNotFound

abi::CudaError check_device(int device) {
  return with_last_error(device >= 0 && device < device_count() ? abi::kCudaSuccess
                                                                : abi::kCudaInvalidDevice);
}

void fill_limits(Properties& properties) {
  constexpr int kThreads[] = {1024, 1024, 64};
  constexpr int kBlocks[] = {2147483647, 65535, 65535};
  for (int axis = 0; axis < 3; ++axis) {
    properties.maxThreadsDim[axis] = kThreads[axis];
    properties.maxGridSize[axis] = kBlocks[axis];
  }
  properties.warpSize = 32;
  properties.memPitch = 2147483647;
  properties.maxThreadsPerBlock = 1024;
  properties.totalConstMem = 64 << 10;
  properties.textureAlignment = 512;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.sharedMemPerBlock = 48 << 10;
}

void fill_abilities(Properties& properties) {
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.unifiedAddressing = 1;
  properties.streamPrioritiesSupported = 1;
  properties.globalL1CacheSupported = 1;
  properties.localL1CacheSupported = 1;
  properties.computePreemptionSupported = 1;
  properties.cooperativeLaunch = 1;
  properties.hostRegisterSupported = 1;
}

[[maybe_unused]] void fill_clocks(abi::DeviceProperties12& properties, const Card& card) {
  properties.clockRate = card.clock_khz;
  properties.memoryClockRate = card.memory_clock_khz;
}

// CUDA 13 reports clocks as attributes alone.
[[maybe_unused]] void fill_clocks(abi::DeviceProperties13&, const Card&) {}

void fill_card(Properties& properties, const Card& card) {
  std::snprintf(properties.name, sizeof properties.name, "%s", card.name);
  properties.totalGlobalMem = static_cast<uint64_t>(card.memory);
  properties.major = card.major;
  properties.minor = card.minor;
  properties.multiProcessorCount = card.processors;
  properties.memoryBusWidth = card.memory_bus_bits;
  properties.l2CacheSize = card.l2_bytes;
  properties.maxThreadsPerMultiProcessor = card.threads_per_processor;
  properties.maxBlocksPerMultiProcessor = card.blocks_per_processor;
  properties.sharedMemPerMultiprocessor = static_cast<uint64_t>(card.shared_per_processor);
  properties.sharedMemPerBlockOptin = static_cast<uint64_t>(card.shared_per_block_optin);
  properties.reservedSharedMemPerBlock = static_cast<uint64_t>(card.shared_per_block_reserved());
  properties.asyncEngineCount = card.copy_engines;
  fill_clocks(properties, card);
}

abi::CudaError fill_properties(Properties* properties, int device) {
  if (check_device(device) != abi::kCudaSuccess) return abi::kCudaInvalidDevice;
  std::memset(properties, 0, sizeof *properties);
  fill_limits(*properties);
  fill_abilities(*properties);
  fill_card(*properties, *settings().card);
  properties->pciBusID = pci_bus(physical_of(device));
  const auto uuid = uuid_of(physical_of(device));
  std::memcpy(properties->uuid, uuid.data(), uuid.size());
  return abi::kCudaSuccess;
}

}  // namespace

extern "C" {

abi::CudaError cudaGetDeviceCount(int* count) {
  *count = device_count();
  return with_last_error(*count == 0 ? abi::kCudaNoDevice : abi::kCudaSuccess);
}

abi::CudaError cudaGetDevice(int* device) { return put(device, current_device()); }

abi::CudaError cudaSetDevice(int device) {
  const abi::CudaError error = check_device(device);
  if (error == abi::kCudaSuccess) set_current_device(device);
  if (check::on) check::greet();
  return error;
}

abi::CudaError cudaGetDeviceProperties(Properties* properties, int device) {
  return fill_properties(properties, device);
}

abi::CudaError cudaGetDeviceProperties_v2(Properties* properties, int device) {
  return fill_properties(properties, device);
}

abi::CudaError cudaDeviceGetAttribute(int* value, int attribute, int device) {
  const abi::CudaError error = check_device(device);
  *value = error == abi::kCudaSuccess ? attribute_of(attribute, device) : 0;
  return error;
}

abi::CudaError cudaDeviceGetPCIBusId(char* text, int length, int device) {
  const abi::CudaError error = check_device(device);
  if (error == abi::kCudaSuccess) {
    std::snprintf(text, static_cast<size_t>(length), "%s",
                  pci_name(physical_of(device)).text.data());
  }
  return error;
}

abi::CudaError cudaDeviceGetByPCIBusId(int* device, const char* text) {
  for (int at = 0; at < device_count(); ++at) {
    if (std::strcmp(text, pci_name(physical_of(at)).text.data()) == 0) {
      *device = at;
      return abi::kCudaSuccess;
    }
  }
  return with_last_error(abi::kCudaInvalidDevice);
}

abi::CudaError cudaDriverGetVersion(int* version) {
  return put(version, settings().versions.runtime);
}

abi::CudaError cudaRuntimeGetVersion(int* version) {
  return put(version, settings().versions.runtime);
}

abi::CudaError cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  *possible = settings().card->peers && device != peer ? 1 : 0;
  return check_device(device) == abi::kCudaSuccess ? check_device(peer) : abi::kCudaInvalidDevice;
}

abi::CudaError cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return abi::kCudaSuccess;
}

abi::CudaError cudaDeviceSynchronize() {
  if (capture::is_any()) {
    const abi::CudaError error = capture::check_wait_for_device(current_device());
    if (error != abi::kCudaSuccess) return with_last_error(error);
  }
  log::Entry entry("cudaDeviceSynchronize", RecordKind::kSync);
  entry.at(current_device(), 0);
  if (check::on) check::wait_for_device(current_device());
  settle_if_needed();
  return abi::kCudaSuccess;
}

abi::CudaError cudaMemGetInfo(uint64_t* free, uint64_t* total) {
  const memory::Room room = memory::room(current_device());
  *free = room.free;
  *total = room.total;
  return abi::kCudaSuccess;
}

abi::CudaError cudaDeviceGetDefaultMemPool(void** pool, int device) {
  static char pools[1];
  *pool = pools;
  return check_device(device);
}

// The way to the driver's functions, which lie in the pretended libcuda.so.1.
abi::CudaError cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                uint64_t, int* result) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  *function = driver == nullptr ? nullptr : dlsym(driver, name);
  if (result != nullptr) *result = *function == nullptr ? kEntryNotFound : kEntryFound;
  return *function == nullptr && result == nullptr ? with_last_error(abi::kCudaSymbolNotFound)
                                                   : abi::kCudaSuccess;
}

abi::CudaError cudaGetDriverEntryPoint(const char* name, void** function, uint64_t flags,
                                       int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}

abi::CudaError cudaGetDriverEntryPoint_ptsz(const char* name, void** function, uint64_t flags,
                                            int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}
}
