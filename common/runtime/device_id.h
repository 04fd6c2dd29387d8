// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

enum class Backend { kHost, kCuda };

[[nodiscard]] std::string to_string(Backend backend);  // "host", "cuda"

// Names one device of a platform, or the (pinned) host memory beside its devices.
struct DeviceId {
  Backend backend = Backend::kHost;
  int index = kHostMemory;

  static constexpr int kHostMemory = -1;

  [[nodiscard]] constexpr bool is_host_memory() const { return index == kHostMemory; }
  constexpr bool operator==(const DeviceId&) const = default;
};

[[nodiscard]] std::string to_string(DeviceId id);  // "host:1", "cuda:0", "host memory"

}  // namespace tandem
