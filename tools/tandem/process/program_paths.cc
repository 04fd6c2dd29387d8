// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/program_paths.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/error.h"
#include "common/base/this_process.h"

namespace tandem::cli {

bool is_program(const std::filesystem::path& path) {
  return ::access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
}

bool is_in_path(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  std::string left = folders == nullptr ? "" : folders;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end > 0 && is_program(std::filesystem::path(left.substr(0, end)) / name)) return true;
    left.erase(0, end + 1);
  }
  return false;
}

std::filesystem::path program_folder() { return program_starter().parent_path(); }

std::vector<std::filesystem::path> sweep_folders() {
  return {program_folder().parent_path() / "share/tandem/sweeps", TANDEM_SWEEP_FOLDER};
}

std::vector<std::filesystem::path> torch_folders() {
  return {program_folder().parent_path() / "tools/torch", TANDEM_TORCH_FOLDER};
}

std::filesystem::path find_step_bench(const std::filesystem::path& given) {
  const std::filesystem::path path =
      given.empty() ? program_folder() / "step_bench" : std::filesystem::absolute(given);
  if (is_program(path)) return path;
  fail(ErrorKind::kUsage, "looking for {}: there is no such program; {}", path.string(),
       given.empty() ? "build the target step_bench" : "check --step-bench");
}

}  // namespace tandem::cli
