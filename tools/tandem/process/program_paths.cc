// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/program_paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/this_process.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

// The program that a starter in an archive starts, whether it lies in bin/ or in programs/bin/; any
// other program itself.
fs::path started_by(const fs::path& program) {
  const fs::path above = fs::absolute(program).parent_path().parent_path();
  for (const fs::path& folder : {above / "elf", above / "programs/elf"}) {
    std::error_code unknown;
    const fs::path file = folder / program.filename();
    if (fs::is_regular_file(file, unknown)) return file;
  }
  return program;
}

// Adds the file's bytes; a file that cannot be read adds nothing.
void add_bytes_of(const fs::path& path, Fnv1a& hash) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> bytes{};
  while (file) {
    file.read(bytes.data(), bytes.size());
    for (std::streamsize i = 0; i < file.gcount(); ++i) {
      hash.add(static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]));
    }
  }
}

}  // namespace

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

std::string checksum_of_programs(const fs::path& step_bench) {
  const fs::path program = started_by(step_bench);
  Fnv1a hash;
  add_bytes_of(program, hash);
  // The program looks from where it lies itself, behind symbolic links.
  std::error_code unknown;
  const fs::path real = fs::weakly_canonical(program, unknown);
  add_bytes_of(first_cuda_module(cuda_module_candidates(real)), hash);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace tandem::cli
