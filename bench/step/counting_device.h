// SPDX-License-Identifier: Apache-2.0
//
// A device that holds addresses and no memory: a model's operations on the device can be counted,
// however large the model is.
#pragma once

#include "bench/step/counting_operations.h"
#include "common/runtime/device.h"

namespace tandem::bench {

// Counts copies and zeroing as operations. The stream carries nothing out, so all work is always
// done. `count` outlives the stream.
class CountingStream final : public Stream {
 public:
  CountingStream(DeviceId device, OperationCount& count) : device_(device), count_(count) {}

  [[nodiscard]] DeviceId device() const override { return device_; }
  void record(Event& /*event*/) override {}
  void wait(const Event& /*event*/) override {}
  void start_after(TimePoint /*time*/) override {}
  void delay(Nanoseconds /*duration*/) override {}
  void synchronize() override {}
  [[nodiscard]] bool is_done() override { return true; }
  void copy_bytes(ByteSpan /*destination*/, ConstByteSpan /*source*/) override {
    ++count_.operations;
  }
  void zero_bytes(ByteSpan /*destination*/) override { ++count_.operations; }

 private:
  const DeviceId device_;
  OperationCount& count_;
};

// A buffer is address space of its own, without pages: a process that touches a buffer ends.
// `count` outlives the device. There are no events, since nothing ever happens on the device.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(OperationCount& count) : count_(count) {}

  [[nodiscard]] DeviceId id() const override { return {Backend::kHost, 0}; }
  [[nodiscard]] std::string name() const override { return "address space"; }
  [[nodiscard]] std::string hardware() const override { return "none"; }
  [[nodiscard]] int multiprocessor_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(Bytes size) override;
  [[nodiscard]] MemoryUse memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamPriority priority) override;
  [[nodiscard]] std::unique_ptr<Event> make_event() override;
  [[nodiscard]] std::unique_ptr<TimedEvent> make_timed_event() override;
  void bind_this_thread() override {}

 private:
  OperationCount& count_;
};

}  // namespace tandem::bench
