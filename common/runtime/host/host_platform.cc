// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_platform.h"

#include <vector>

#include "common/runtime/host/available_memory.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_buffer.h"
#include "common/runtime/host/host_device.h"
#include "common/runtime/host/shared_mapping.h"

namespace tandem::host {
namespace {

class HostPlatform final : public Platform {
 public:
  HostPlatform(const PlatformOptions& options, const std::vector<int>& cores)
      : oversubscribed_(options.devices > static_cast<int>(cores.size())) {
    const Bytes capacity =
        options.device_memory.value_or(Bytes{available_memory().value / options.devices});
    for (int index = 0; index < options.devices; ++index) {
      devices_.push_back(std::make_unique<HostDevice>(
          HostDeviceOptions{.id = {Backend::kHost, index},
                            .core = cores[static_cast<std::size_t>(index) % cores.size()],
                            .capacity = capacity,
                            .debug = options.debug}));
    }
  }

  [[nodiscard]] Backend backend() const override { return Backend::kHost; }
  [[nodiscard]] int device_count() const override { return static_cast<int>(devices_.size()); }
  [[nodiscard]] bool oversubscribed() const override { return oversubscribed_; }

  [[nodiscard]] Device& device(int index) override {
    TANDEM_CHECK(index >= 0 && index < device_count(), "device {} of {}", index, device_count());
    return *devices_[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(Bytes size) override {
    const Bytes left = available_memory();
    if (size > left) {
      fail(ErrorKind::kOutOfMemory,
           "the host is out of memory: {} asked, {} left; use a smaller batch", to_string(size),
           to_string(left));
    }
    const std::shared_ptr<SharedMapping> mapping = SharedMapping::create(std::max(size, Bytes{1}));
    const DeviceId host{Backend::kHost, DeviceId::kHostMemory};
    return std::make_unique<HostBuffer>(ByteSpan(mapping->data(), size.value, host), mapping,
                                        nullptr);
  }

 private:
  const bool oversubscribed_;
  std::vector<std::unique_ptr<HostDevice>> devices_;
};

}  // namespace

std::unique_ptr<Platform> make_host_platform(const PlatformOptions& options) {
  TANDEM_CHECK(options.devices >= 1, "{} devices", options.devices);
  const std::vector<int> cores = options.cores.empty() ? allowed_cores() : options.cores;
  const auto count = static_cast<int>(cores.size());
  if (options.devices > count && !options.oversubscribe) {
    fail(ErrorKind::kUsage,
         "{} devices asked, but this process may use {} core{}: ask for {} or fewer, or pass "
         "--oversubscribe to let devices share cores",
         options.devices, count, count == 1 ? "" : "s", count);
  }
  return std::make_unique<HostPlatform>(options, cores);
}

}  // namespace tandem::host
