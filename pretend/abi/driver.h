// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of CUDA's driver, as far as the answers need it.
#pragma once

namespace tandem::pretend::abi {

enum DriverError : int {
  kDriverSuccess = 0,
  kDriverInvalidValue = 1,
  kDriverOutOfMemory = 2,
  kDriverInvalidDevice = 101,
  kDriverNotFound = 500,
  kDriverNotReady = 600,
  kDriverNotSupported = 801,
};

// CUlaunchConfig.
struct DriverLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

// CUmemAllocationProp, as far as it is read.
struct AllocationProperties {
  int type;
  int handle_types;
  int location;  // CUmemLocationType: 1 is a device
  int device;
};

// CUpointer_attribute
inline constexpr int kPointerContext = 1;
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerDevicePointer = 3;
inline constexpr int kPointerHostPointer = 4;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeSize = 12;

// CUfunction_attribute
inline constexpr int kFunctionMaxThreads = 0;
inline constexpr int kFunctionRegisters = 4;

}  // namespace tandem::pretend::abi
