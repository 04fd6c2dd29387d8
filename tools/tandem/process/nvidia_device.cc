// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/nvidia_device.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/text.h"

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

int device_files(const fs::path& root) { return count_entries(root / "dev", names_a_gpu); }

int driver_entries(const fs::path& root) {
  return count_entries(root / "proc/driver/nvidia/gpus", [](const std::string&) { return true; });
}

}  // namespace

bool has_nvidia_device(const fs::path& root) {
  if (device_files(root) > 0 || driver_entries(root) > 0) return true;
  std::error_code error;
  return fs::exists(root / "dev/dxg", error) &&
         fs::exists(root / "usr/lib/wsl/lib/libcuda.so.1", error);
}

int nvidia_devices(const fs::path& root, int least) {
  const int files = device_files(root);
  const int found = std::max(least, files > 0 ? files : driver_entries(root));
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return found;
  const std::vector<std::string_view> names = split(visible, ',');
  const auto end = std::ranges::find_if(
      names, [](std::string_view name) { return name.empty() || name == "-1"; });
  return std::min(found, static_cast<int>(end - names.begin()));
}

}  // namespace tandem::cli
