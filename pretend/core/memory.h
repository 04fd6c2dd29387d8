// SPDX-License-Identifier: Apache-2.0
//
// Memory of pretended devices: each device owns a window of addresses as large as its memory,
// reserved and not backed. An allocation makes a part of the window readable; the system gives
// pages for what is touched. So a pointer's device is known from the pointer, without a lock.
#pragma once

#include <cstdint>

namespace tandem::pretend::memory {

inline constexpr int kHost = -1;

// nullptr where the device has no room for that many bytes.
[[nodiscard]] void* allocate(int device, uint64_t bytes);

// False where no allocation begins at the address.
bool release(void* address);

// Takes from a device's memory without an address; charge() is false where there is no room.
bool charge(int device, uint64_t bytes);
void refund(int device, uint64_t bytes);

// The device that has the address, or kHost.
[[nodiscard]] int device_of(const void* address);

// An allocation of a device, or of pinned host memory; bytes is 0 where the address is in neither.
struct Place {
  int device = kHost;
  void* begin = nullptr;
  uint64_t bytes = 0;
};
[[nodiscard]] Place find(const void* address);

// Pinned host memory. release_pinned returns false where none begins at the address.
[[nodiscard]] void* allocate_pinned(uint64_t bytes);
bool release_pinned(void* address);
void note_pinned(void* address, uint64_t bytes);  // the caller's own memory, made pinned
bool forget_pinned(void* address);

struct Room {
  uint64_t free = 0;
  uint64_t total = 0;
};
[[nodiscard]] Room room(int device);

}  // namespace tandem::pretend::memory
