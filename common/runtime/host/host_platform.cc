// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_platform.h"

#include <vector>

#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_device.h"
#include "common/runtime/host/host_memory.h"
#include "common/runtime/memory_account.h"

namespace tandem::host {
namespace {

void refuse_options_of_gpus(const PlatformOptions& options) {
  if (options.binding == Binding::kNone) {
    fail(ErrorKind::kUsage,
         "--bind=none applies to GPUs: these devices are cores, and their threads keep to them; "
         "leave "
         "it out");
  }
  const auto refuse = [](bool is_given, const char* option) {
    if (!is_given) return;
    fail(ErrorKind::kUsage, "{} applies to GPUs, and these devices are cores: leave it out",
         option);
  };
  refuse(!options.gpus.empty(), "--gpus");
  refuse(options.peer_access == PeerAccess::kOff, "--p2p=off");
  refuse(options.gpu_wait == GpuWait::kPark, "--gpu-wait=park");
}

class HostPlatform final : public Platform {
 public:
  HostPlatform(const PlatformOptions& options, const std::vector<int>& cores)
      : oversubscribed_(options.devices > static_cast<int>(cores.size())) {
    check_device_memory(options);
    const Bytes share{available_memory().value / options.devices};
    for (int index = 0; index < options.devices; ++index) {
      devices_.push_back(std::make_unique<HostDevice>(
          HostDeviceOptions{.id = {Backend::kHost, index},
                            .core = cores[static_cast<std::size_t>(index) % cores.size()],
                            .capacity = asked_memory(options, index).value_or(share),
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
    return allocate_host_memory(size);
  }

 private:
  const bool oversubscribed_;
  std::vector<std::unique_ptr<HostDevice>> devices_;
};

}  // namespace

std::unique_ptr<Platform> make_host_platform(const PlatformOptions& options) {
  TANDEM_CHECK(options.devices >= 1, "{} devices", options.devices);
  refuse_options_of_gpus(options);
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
