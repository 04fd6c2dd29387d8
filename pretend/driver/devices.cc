// SPDX-License-Identifier: Apache-2.0
//
// Devices and contexts of the pretended driver. A device has one context, its primary one.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "pretend/abi/driver.h"
#include "pretend/core/check.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/memory.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"

using namespace tandem::pretend;

namespace {

// A context's handle points into this array; its place there is the device.
constexpr int kMostContexts = 1024;
char contexts[kMostContexts];
thread_local bool has_context = false;

abi::DriverError check_device(int device) {
  return device >= 0 && device < device_count() ? abi::kDriverSuccess : abi::kDriverInvalidDevice;
}

char* context_of(int device) { return &contexts[device % kMostContexts]; }

void enter(const char* context) {
  has_context = context != nullptr;
  if (has_context) set_current_device(static_cast<int>(context - contexts));
}

}  // namespace

extern "C" {

abi::DriverError cuInit(unsigned) { return abi::kDriverSuccess; }

abi::DriverError cuDriverGetVersion(int* version) {
  return put(version, settings().versions.runtime);
}

abi::DriverError cuDeviceGetCount(int* count) { return put(count, device_count()); }

abi::DriverError cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return check_device(ordinal);
}

abi::DriverError cuDeviceGetName(char* text, int length, int device) {
  std::snprintf(text, static_cast<size_t>(length), "%s", settings().card->name);
  return check_device(device);
}

abi::DriverError cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute_of(attribute, device);
  return check_device(device);
}

abi::DriverError cuDeviceTotalMem_v2(uint64_t* bytes, int device) {
  *bytes = memory::room(device).total;
  return check_device(device);
}

abi::DriverError cuDeviceGetUuid(char* uuid, int device) {
  std::memcpy(uuid, uuid_of(physical_of(device)).data(), 16);
  return check_device(device);
}

abi::DriverError cuDeviceGetUuid_v2(char* uuid, int device) {
  return cuDeviceGetUuid(uuid, device);
}

abi::DriverError cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<size_t>(length), "%s", pci_name(physical_of(device)).text.data());
  return check_device(device);
}

abi::DriverError cuDeviceCanAccessPeer(int* possible, int device, int peer) {
  return put(possible, settings().card->peers && device != peer ? 1 : 0);
}

abi::DriverError cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = is_in_use(device) ? 1 : 0;
  return check_device(device);
}

abi::DriverError cuDevicePrimaryCtxRetain(char** context, int device) {
  *context = context_of(device);
  return check_device(device);
}

abi::DriverError cuDevicePrimaryCtxRelease_v2(int) { return abi::kDriverSuccess; }

abi::DriverError cuCtxGetCurrent(char** context) {
  const bool known = has_context || current_device() != 0 || is_in_use(0);
  *context = known ? context_of(current_device()) : nullptr;
  return abi::kDriverSuccess;
}

abi::DriverError cuCtxSetCurrent(char* context) {
  enter(context);
  return abi::kDriverSuccess;
}

abi::DriverError cuCtxPushCurrent_v2(char* context) { return cuCtxSetCurrent(context); }

abi::DriverError cuCtxPushCurrent(char* context) { return cuCtxSetCurrent(context); }

abi::DriverError cuCtxPopCurrent_v2(char** context) { return cuCtxGetCurrent(context); }

abi::DriverError cuCtxPopCurrent(char** context) { return cuCtxGetCurrent(context); }

abi::DriverError cuCtxGetDevice(int* device) { return put(device, current_device()); }

abi::DriverError cuCtxSynchronize() {
  log::Entry entry("cuCtxSynchronize", RecordKind::kSync);
  entry.at(current_device(), 0);
  if (check::on) check::wait_for_device(current_device());
  settle_if_needed();
  return abi::kDriverSuccess;
}

// Limits of stacks and heaps of kernels, which nobody runs: none is set.
abi::DriverError cuCtxGetLimit(uint64_t* bytes, int) { return put(bytes, 0); }

abi::DriverError cuStreamGetCtx(void* stream, char** context) {
  return put(context, context_of(target_of(stream).device));
}

abi::DriverError cuGetErrorName(int error, const char** text) {
  return put(text, error == 0 ? "CUDA_SUCCESS" : "CUDA_ERROR_NOT_SUPPORTED");
}

abi::DriverError cuGetErrorString(int error, const char** text) {
  return put(text, error == 0 ? "no error" : "error of Tandem's pretended driver");
}
}
