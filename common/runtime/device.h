// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem {

// The PCI address of a GPU's hardware name (Device::hardware()): "00000000:3B:00.0" of
// "00000000:3B:00.0 GPU-5f0e...". MIG instances of one GPU share this address.
[[nodiscard]] inline std::string pci_address_of(const std::string& hardware) {
  return hardware.substr(0, hardware.find(' '));
}

// Owns memory of one device (or pinned host memory). Zero-filled when new. Frees the memory on
// destruction: the owner must synchronise the streams first, so that no queued work uses the
// memory.
class Buffer : boost::noncopyable {
 public:
  virtual ~Buffer() = default;

  [[nodiscard]] virtual ByteSpan bytes() = 0;

  // The first `count` elements as T; by default all elements that fit.
  template <class T>
  [[nodiscard]] Span<T> as(std::int64_t count = -1) {
    const ByteSpan all = bytes();
    const std::int64_t fits = all.size() / static_cast<std::int64_t>(sizeof(T));
    TANDEM_CHECK(count <= fits, "{} elements asked of a buffer of {}", count, fits);
    return Span<T>(reinterpret_cast<T*>(all.data()), count < 0 ? fits : count, all.device());
  }

  // The first `count` elements, of a type that is known at run time.
  [[nodiscard]] AnySpan as(DType type, std::int64_t count) {
    const ByteSpan all = bytes();
    const std::int64_t fits = all.size() / size_of(type);
    TANDEM_CHECK(count <= fits, "{} elements asked of a buffer of {}", count, fits);
    return {all.data(), count, type, all.device()};
  }
};

struct MemoryUse {
  Bytes capacity;
  Bytes used;
  Bytes peak;                    // peak since the device was made
  std::int64_t allocations = 0;  // allocations since the device was made
};

// One device: makes streams and events, allocates memory. Thread-safe. Outlives all that the device
// made.
class Device : boost::noncopyable {
 public:
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
