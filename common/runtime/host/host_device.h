// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "common/runtime/device.h"
#include "common/runtime/host/host_stream.h"
#include "common/runtime/memory_account.h"
#include "common/runtime/platform.h"

namespace tandem::host {

// A view of memory that `owner` keeps alive; `on_release` runs when the buffer is destroyed.
class HostBuffer final : public Buffer {
 public:
  HostBuffer(ByteSpan bytes, std::shared_ptr<void> owner, std::function<void()> on_release)
      : bytes_(bytes), owner_(std::move(owner)), on_release_(std::move(on_release)) {}
  ~HostBuffer() override {
    if (on_release_) on_release_();
  }

  [[nodiscard]] ByteSpan bytes() override { return bytes_; }

 private:
  const ByteSpan bytes_;
  const std::shared_ptr<void> owner_;  // the mapping, which buffers of one communicator share
  const std::function<void()> on_release_;
};

struct HostDeviceOptions {
  DeviceId id;
  int core = 0;
  Bytes capacity;
  HostDebug debug{};
};

// A logical device: one core, memory of its own.
class HostDevice final : public Device {
 public:
  explicit HostDevice(const HostDeviceOptions& options);

  [[nodiscard]] DeviceId id() const override { return options_.id; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string hardware() const override { return name(); }
  [[nodiscard]] int multiprocessor_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override;
  [[nodiscard]] MemoryUse memory() const override { return account_->use(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority priority) override;
  [[nodiscard]] std::unique_ptr<Event> make_event() override;
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override;
  void bind_this_thread() override;

  // Wraps a part of a shared mapping as a buffer of this device, counted like any buffer and first
  // touched here. `owner` keeps the mapping alive; `reserve` makes the part's pages, on the
  // device's core, once the device is known to have room.
  [[nodiscard]] std::unique_ptr<Buffer> adopt(std::byte* data, Bytes size,
                                              std::shared_ptr<void> owner,
                                              const std::function<void()>& reserve = {});

  [[nodiscard]] int core() const { return options_.core; }

 private:
  [[nodiscard]] std::function<bool()> left_out_wait();

  const HostDeviceOptions options_;
  // The account is shared with the buffers, which give memory back to the account on destruction.
  const std::shared_ptr<MemoryAccount> account_;
  std::atomic<std::uint64_t> streams_made_{0};
  std::atomic<int> waits_{0};  // counts all streams' waits where one is to be left out
};

// The host device behind a device; throws a logic error where the device is on another back end.
[[nodiscard]] HostDevice& host_device(Device& device);

}  // namespace tandem::host
