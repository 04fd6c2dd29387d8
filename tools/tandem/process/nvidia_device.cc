// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/nvidia_device.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

bool names_a_gpu(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

template <class Predicate>
int count_entries(const fs::path& folder, Predicate counts) {
  int count = 0;
  std::error_code error;  // an absent folder has no entries
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (counts(it->path().filename().string())) ++count;
  }
  return count;
}

int driver_entries(const fs::path& root) {
  return count_entries(root / "proc/driver/nvidia/gpus", [](const std::string&) { return true; });
}

}  // namespace

int count_nvidia_devices(const fs::path& root) { return count_entries(root / "dev", names_a_gpu); }

bool has_nvidia_device(const fs::path& root) {
  if (count_nvidia_devices(root) > 0 || driver_entries(root) > 0) return true;
  std::error_code error;
  return fs::exists(root / "dev/dxg", error) &&
         fs::exists(root / "usr/lib/wsl/lib/libcuda.so.1", error);
}

int nvidia_devices(const fs::path& root) {
  const int files = count_nvidia_devices(root);
  const int found = files > 0 ? files : driver_entries(root);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return found;
  const std::string_view names(visible);
  const auto named = names.empty() ? 0 : 1 + std::ranges::count(names, ',');
  return std::min(found, static_cast<int>(named));
}

}  // namespace tandem::cli
