// SPDX-License-Identifier: Apache-2.0
#include "common/base/this_process.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>

namespace tandem {

namespace {

namespace fs = std::filesystem;

// A part of a process's memory that maps a file.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  fs::path file;
};

// Parses a line of /proc/PID/maps, such as "7f01-7f02 r-xp 00000000 fe:00 42   /folder/file":
// proc(5). No field before the path has a slash. The path of a mapping without a file is empty.
Mapping mapping_of(const std::string& line) {
  Mapping mapping;
  const char* const last = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), last, mapping.begin, 16);
  if (begin.ec != std::errc{} || begin.ptr == last) return {};
  if (std::from_chars(begin.ptr + 1, last, mapping.end, 16).ec != std::errc{}) return {};
  const std::size_t path = line.find('/');
  if (path != std::string::npos) mapping.file = line.substr(path);
  return mapping;
}

// The file of the first mapping that `is_wanted` accepts; empty where no mapping is accepted or
// /proc is missing.
fs::path mapped_file(const std::string& process,
                     const std::function<bool(const Mapping&)>& is_wanted) {
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const Mapping mapping = mapping_of(line);
    if (is_wanted(mapping)) return mapping.file;
  }
  return {};
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};  // zeros end a name that is cut off
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

fs::path program_file() {
  // The address of the program's own headers, also where a loader started the program.
  const std::uintptr_t headers = ::getauxval(AT_PHDR);
  return mapped_file("self", [headers](const Mapping& mapping) {
    return mapping.begin <= headers && headers < mapping.end;
  });
}

fs::path starter_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (folder.filename() != "elf") return file;
  const fs::path starter = folder.parent_path() / "bin" / file.filename();
  std::error_code ignored;
  return fs::is_regular_file(starter, ignored) ? starter : file;
}

fs::path program_starter() { return starter_of(program_file()); }

bool runs_this_program(int pid) {
  const fs::path own = program_file();
  if (own.empty()) return false;
  return !mapped_file(fmt::format("{}", pid), [&own](const Mapping& mapping) {
            return mapping.file == own;
          }).empty();
}

std::vector<std::filesystem::path> cuda_module_candidates(const char* module_path,
                                                          const std::filesystem::path& program) {
  if (module_path != nullptr && *module_path != '\0') {
    return {std::filesystem::path(module_path) / kCudaModuleFile};
  }
  const std::filesystem::path above = program.parent_path().parent_path();
  return {above / "lib" / kCudaModuleFile, above.parent_path() / "lib" / kCudaModuleFile};
}

std::vector<std::filesystem::path> cuda_module_candidates(const std::filesystem::path& program) {
  return cuda_module_candidates(std::getenv("TANDEM_MODULE_PATH"), program);
}

std::filesystem::path first_cuda_module(const std::vector<std::filesystem::path>& candidates) {
  for (const std::filesystem::path& file : candidates) {
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file;
  }
  return {};
}

}  // namespace tandem
