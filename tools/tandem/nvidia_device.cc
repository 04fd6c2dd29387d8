// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/nvidia_device.h"

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

bool has_gpu_file(const fs::path& folder) {
  std::error_code error;  // an absent folder has no entries
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (names_a_gpu(it->path().filename().string())) return true;
  }
  return false;
}

}  // namespace

bool has_nvidia_device(const fs::path& root) {
  if (has_gpu_file(root / "dev")) return true;
  std::error_code error;
  const fs::path listed = root / "proc/driver/nvidia/gpus";
  if (fs::exists(listed, error) && !fs::is_empty(listed, error) && !error) return true;
  return fs::exists(root / "dev/dxg", error) &&
         fs::exists(root / "usr/lib/wsl/lib/libcuda.so.1", error);
}

}  // namespace tandem::cli
