// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/runtime/buffer.h"
#include "common/runtime/event.h"
#include "common/runtime/stream.h"

namespace tandem {

struct MemoryUse {
  Bytes capacity;
  Bytes used;
  Bytes peak;                    // peak since the device was made
  std::int64_t allocations = 0;  // allocations since the device was made
};

// One device: makes streams and events, allocates memory. Thread-safe. Outlives all that the device
// made.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual DeviceId id() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;

  // The hardware below the device, by a name that is the same in every process of the node: logical
  // devices of one name share the hardware. "core 3"; a GPU's PCI address and UUID.
  [[nodiscard]] virtual std::string hardware() const = 0;

  // The number of processors that work on one operation together: a GPU's multiprocessors; 1 on the
  // host.
  [[nodiscard]] virtual int multiprocessor_count() const = 0;

  // Throws an out-of-memory error that names the device, the size asked for and the size left.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(Bytes size) = 0;
  [[nodiscard]] virtual MemoryUse memory() const = 0;

  // Allocates host memory that this device copies from and to without staging (pinned on CUDA).
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate_host(Bytes size) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(StreamPriority priority) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  [[nodiscard]] virtual std::unique_ptr<TimedEvent> make_timed_event() = 0;

  // Makes the calling thread this device's: bound to the device's core (host), or current on the
  // device and bound to the CPUs near the device in the platform's options (CUDA).
  virtual void bind_this_thread() = 0;
};

}  // namespace tandem
