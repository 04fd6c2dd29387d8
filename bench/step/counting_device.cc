// SPDX-License-Identifier: Apache-2.0
#include "bench/step/counting_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tandem::bench {
namespace {

// An address range that is mapped without access, and that no account counts as memory.
class AddressRange final : public Buffer {
 public:
  AddressRange(Bytes size, DeviceId device) : size_(size), device_(device) {
    data_ = mmap(nullptr, mapped(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) {
      fail(ErrorKind::kFailure,
           "counting a model's operations: no address space for {}: {}; raise ulimit -v",
           to_string(size), std::strerror(errno));
    }
  }
  ~AddressRange() override { munmap(data_, mapped()); }

  [[nodiscard]] ByteSpan bytes() override {
    return {static_cast<std::byte*>(data_), size_.value, device_};
  }

 private:
  [[nodiscard]] std::size_t mapped() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(size_.value, 1));
  }

  const Bytes size_;
  const DeviceId device_;
  void* data_ = nullptr;
};

}  // namespace

std::unique_ptr<Buffer> CountingDevice::allocate(Bytes size) {
  return std::make_unique<AddressRange>(size, id());
}

std::unique_ptr<Buffer> CountingDevice::allocate_host(Bytes size) { return allocate(size); }

std::unique_ptr<Stream> CountingDevice::make_stream(StreamPriority /*priority*/) {
  return std::make_unique<CountingStream>(id(), count_);
}

std::unique_ptr<Event> CountingDevice::make_event() {
  fail(ErrorKind::kLogic, "an event of a device on which nothing happens");
}

std::unique_ptr<TimedEvent> CountingDevice::make_timed_event() {
  fail(ErrorKind::kLogic, "a timed event of a device on which nothing happens");
}

}  // namespace tandem::bench
