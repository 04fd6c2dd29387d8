// SPDX-License-Identifier: Apache-2.0
//
// Device memory beyond the devices' windows: addresses that are reserved first and get memory
// later, and memory of other processes.
//
// Thread-safe. A program that has none of both pays one load when it asks for a pointer's device.
#pragma once

#include <atomic>
#include <cstdint>

#include "pretend/core/memory.h"

namespace tandem::pretend::segments {

// Memory of a device without an address. Given back when its maker and all places have let go.
struct Memory {
  int device;
  uint64_t bytes;
  int owners = 1;
};
[[nodiscard]] Memory* make(int device, uint64_t bytes);  // nullptr where the device has no room
void let_go(Memory* memory);

// Addresses without memory; nullptr where the system has none left.
[[nodiscard]] void* reserve(uint64_t bytes);
bool give_up(void* address, uint64_t bytes);

// False where the addresses are not reserved. unmap() takes all memory from the addresses.
bool map(void* address, Memory* memory);
bool unmap(void* address, uint64_t bytes);

// A file of another process's memory on the device; nullptr where it cannot be read.
[[nodiscard]] void* map_file(const char* path, uint64_t bytes, int device);

extern std::atomic<bool> any;
[[nodiscard]] memory::Place find(const void* address);

}  // namespace tandem::pretend::segments
