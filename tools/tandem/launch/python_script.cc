// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/python_script.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

constexpr int kNoProgram = 127;  // the shell's exit status where it finds no program

// Isolated (-I): modules of the working folder and variables of Python mean other programs.
std::string command_of(const PythonScript& script, const std::filesystem::path& errors) {
  const std::string python =
      script.python.empty() || is_in_path("python3") ? "python3" : script.python;
  std::string command =
      fmt::format("{} -I -B {}", shell_word(python), shell_word(script.file.string()));
  for (const std::string& word : script.words) command += " " + shell_word(word);
  return fmt::format("{} 2>{}", command, shell_word(errors.string()));
}

// Why the script ended with this status; throws.
[[noreturn]] void fail_by(const std::string& script, const std::filesystem::path& errors,
                          int status) {
  constexpr std::string_view kPrefix = "tandem: ";
  std::ifstream file(errors);
  std::string reason = reason_in(std::string(std::istreambuf_iterator<char>(file), {}));
  if (reason.starts_with(kPrefix)) reason.erase(0, kPrefix.size());
  if (reason.empty()) reason = fmt::format("{} ended with status {}", script, status);
  fail(status == kUsageExit ? ErrorKind::kUsage : ErrorKind::kFailure, "{}", reason);
}

}  // namespace

// By the shell: a command that takes this process's place afterwards finds signals as they were.
std::string output_of_script(const PythonScript& script) {
  const TemporaryFolder folder;
  const std::filesystem::path errors = folder.path() / "errors";
  std::string text;
  std::FILE* const pipe = ::popen(command_of(script, errors).c_str(), "r");
  if (pipe == nullptr)
    fail(ErrorKind::kFailure, "starting {}: no process left", script.file.string());
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  const int state = ::pclose(pipe);
  const int status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  if (status == 0) return text;
  if (status == kNoProgram) {
    fail(ErrorKind::kFailure,
         "starting {}: there is no python3 in PATH; install Python 3.9 or newer",
         script.file.string());
  }
  fail_by(script.file.string(), errors, status);
}

std::filesystem::path torch_script(const std::string& name) {
  for (const std::filesystem::path& folder : torch_folders()) {
    if (std::filesystem::exists(folder / name)) return folder / name;
  }
  fail(ErrorKind::kUsage,
       "looking for {}: it is not beside this program, nor where it was built; keep tools/torch "
       "there",
       name);
}

}  // namespace tandem::cli
