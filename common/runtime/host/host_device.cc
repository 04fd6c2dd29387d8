// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_device.h"

#include <algorithm>
#include <cstring>

#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_event.h"
#include "common/runtime/host/host_memory.h"

namespace tandem::host {

HostDevice::HostDevice(const HostDeviceOptions& options)
    : options_(options), account_(std::make_shared<MemoryAccount>(options.id, options.capacity)) {}

std::string HostDevice::name() const { return fmt::format("core {}", options_.core); }

std::unique_ptr<Buffer> HostDevice::allocate(Bytes size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  // The mapping is address space only; pages come when adopt() has charged for the pages.
  const std::shared_ptr<SharedMapping> mapping = SharedMapping::create(std::max(size, Bytes{1}));
  return adopt(mapping->data(), size, mapping);
}

std::unique_ptr<Buffer> HostDevice::adopt(std::byte* data, Bytes size, std::shared_ptr<void> owner,
                                          const std::function<void()>& reserve) {
  account_->charge(size);
  auto buffer =
      std::make_unique<HostBuffer>(ByteSpan(data, size.value, id()), std::move(owner),
                                   [account = account_, size] { account->release(size); });
  // The thread that reserves pages, or touches pages first, decides their NUMA node.
  const ScopedBinding here(options_.core);
  if (reserve) reserve();
  std::memset(data, 0, static_cast<std::size_t>(size.value));
  return buffer;
}

std::unique_ptr<Buffer> HostDevice::allocate_host(Bytes size) { return allocate_host_memory(size); }

// Returns a function that says of each wait whether to leave out the wait; empty where no wait is
// left out.
std::function<bool()> HostDevice::left_out_wait() {
  const auto& mutant = options_.debug.left_out_wait;
  if (!mutant || mutant->device != id().index) return nullptr;
  return [this, number = mutant->number] { return waits_.fetch_add(1) == number; };
}

std::unique_ptr<Stream> HostDevice::make_stream(StreamPriority) {
  // Stream priorities are ignored here: priorities order kernels that compete for one GPU, but a
  // core's workers are shared out fairly by the scheduler, and no worker may starve a peer's
  // collective.
  const std::uint64_t number = streams_made_.fetch_add(1);
  return std::make_unique<HostStream>(HostStreamOptions{
      .device = id(),
      .core = options_.core,
      .largest_delay = options_.debug.largest_delay,
      .delay_seed =
          options_.debug.delay_seed + 1 + 1000 * static_cast<std::uint64_t>(id().index) + number,
      .leaves_out_wait = left_out_wait()});
}

std::unique_ptr<Event> HostDevice::make_event() { return std::make_unique<HostEvent>(id()); }

std::unique_ptr<TimedEvent> HostDevice::make_timed_event() {
  return std::make_unique<HostEvent>(id());
}

void HostDevice::bind_this_thread() { host::bind_this_thread(options_.core); }

HostDevice& host_device(Device& device) {
  TANDEM_CHECK(device.id().backend == Backend::kHost, "host memory asked of {}",
               to_string(device.id()));
  return static_cast<HostDevice&>(device);
}

}  // namespace tandem::host
