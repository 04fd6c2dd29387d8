// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's device, its streams and events. A stream does nothing and is always done:
// what is left of it is its device and its number in the log. An event keeps when it was recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tandem::pretend {

[[nodiscard]] int device_count();
[[nodiscard]] int current_device();
void set_current_device(int device);       // also makes the device one that is in use
[[nodiscard]] bool is_in_use(int device);  // whether a thread made it current, or it is device 0

struct Stream {
  int device = 0;
  uint32_t number = 0;
  unsigned flags = 0;
  int priority = 0;
};

struct Event {
  std::atomic<int64_t> recorded{0};  // nanoseconds of CLOCK_MONOTONIC; 0: never
  uint32_t number = 0;
  bool timed = true;
};

// Where a call goes: the stream behind a handle, or a default stream of the current device, whose
// handles are 0, 1 and 2 (default, legacy, per thread).
struct Target {
  int device = 0;
  uint32_t stream = 0;
};
[[nodiscard]] inline Target target_of(const void* stream) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (handle <= 2) return {current_device(), static_cast<uint32_t>(handle)};
  const auto* const made = static_cast<const Stream*>(stream);
  return {made->device, made->number};
}

[[nodiscard]] Stream* make_stream(unsigned flags, int priority);  // on the current device
[[nodiscard]] Event* make_event(bool timed);

// Calls that enqueue something which writes memory on a real GPU, or that wait for the host's
// sake: a stream that waits for values of other ranks gets them first.
using Settle = void (*)(const void* address, uint64_t bytes);  // nullptr: all
void set_settle(Settle settle);
extern std::atomic<int> unsettled;  // collectives whose values are still to come
void settle(const void* address = nullptr, uint64_t bytes = 0);
inline void settle_if_needed(const void* address = nullptr, uint64_t bytes = 0) {
  if (unsettled.load(std::memory_order_relaxed) > 0) settle(address, bytes);
}

// The value of an attribute of CUDA (the runtime's and the driver's numbers are the same); 0 for
// what such a card does not have or nobody asked about yet.
[[nodiscard]] int attribute_of(int attribute, int device);

// "0000:01:00.0" of a device's physical index.
struct PciName {
  std::array<char, 16> text{};
};
[[nodiscard]] PciName pci_name(int physical);
[[nodiscard]] int pci_bus(int physical);

// 16 bytes that distinguish pretended GPUs.
[[nodiscard]] std::array<char, 16> uuid_of(int physical);

[[nodiscard]] int physical_of(int device);

}  // namespace tandem::pretend
