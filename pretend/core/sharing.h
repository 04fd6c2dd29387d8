// SPDX-License-Identifier: Apache-2.0
//
// Device memory that another process of the node may open: from its first share() on, an
// allocation lies in a file without a name, which the other process finds under /proc.
#pragma once

#include <cstdint>

namespace tandem::pretend::sharing {

// What one process hands to the other: fits into cudaIpcMemHandle_t, 64 bytes.
struct Handle {
  int process;
  int file;      // its descriptor there
  int physical;  // the device, as the machine counts
  uint64_t bytes;
};

// Shares the allocation that holds the address. False where there is none, or no memory for a file.
bool share(void* address, Handle* handle);

// nullptr where the other process is gone, or this one does not see its device.
[[nodiscard]] void* open(const Handle& handle);

// Before an allocation is freed; does nothing for one that is not shared.
void forget(void* begin, uint64_t bytes);

}  // namespace tandem::pretend::sharing
