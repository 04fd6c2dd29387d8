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
  Bytes peak;                    // since the device was made
  std::int64_t allocations = 0;  // since then
};

// One device: makes streams and events, allocates memory. Thread-safe. Outlives all it made.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual DeviceId id() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;

  // What it lies on, by a name that every process of the node knows it by: logical devices of one
  // name share it. "core 3"; a GPU's PCI address and UUID.
  [[nodiscard]] virtual std::string hardware() const = 0;

  // Processors that work on one operation together: a GPU's multiprocessors; 1 on the host.
  [[nodiscard]] virtual int multiprocessor_count() const = 0;

  // Throws an out-of-memory error that names the device, what was asked and what is left.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(Bytes size) = 0;
  [[nodiscard]] virtual MemoryUse memory() const = 0;

  // Host memory that this device copies from and to without staging (pinned on CUDA).
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate_host(Bytes size) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(StreamPriority priority) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  [[nodiscard]] virtual std::unique_ptr<TimedEvent> make_timed_event() = 0;

  // Makes the calling thread this device's: bound to its core (host), or current on it and bound to
  // the CPUs near it that the platform was told of (CUDA).
  virtual void bind_this_thread() = 0;
};

}  // namespace tandem
