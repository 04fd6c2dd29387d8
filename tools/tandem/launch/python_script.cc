// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/python_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common/base/error.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

constexpr std::chrono::hours kScriptPatience{24};  // a trace may have gigabytes

// Isolated (-I): modules of the working folder and variables of Python mean other programs.
std::vector<std::string> command_of(const PythonScript& script) {
  const std::string python =
      script.python.empty() || is_in_path("python3") ? "python3" : script.python;
  std::vector<std::string> words{python, "-I", "-B", script.file.string()};
  words.insert(words.end(), script.words.begin(), script.words.end());
  return words;
}

std::vector<std::string> this_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

[[noreturn]] void fail_to_start(const std::string& python, int reason) {
  fail(ErrorKind::kFailure, "running {}: {}; install Python 3.9 or newer, or put it in PATH",
       python, std::strerror(reason));
}

}  // namespace

std::string output_of_script(const PythonScript& script) {
  const TemporaryFolder folder;
  const std::filesystem::path log = folder.path() / "output";
  const std::vector<std::string> command = command_of(script);
  const Interrupts interrupts;
  const ChildResult child = run_child({.arguments = command,
                                       .environment = this_environment(),
                                       .log = log,
                                       .timeout = kScriptPatience},
                                      interrupts);
  const std::string what = script.file.filename().string();
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(what);
  if (child.end == ChildResult::End::kNotStarted) fail_to_start(command[0], child.code);
  if (child.has_exited(0)) {
    std::ifstream file(log);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  constexpr std::string_view kPrefix = "tandem: ";
  std::string reason = reason_of(child, what, kScriptPatience);
  if (reason.starts_with(kPrefix)) reason.erase(0, kPrefix.size());
  fail(child.has_exited(kUsageExit) ? ErrorKind::kUsage : ErrorKind::kFailure, "{}", reason);
}

void become_script(const PythonScript& script) {
  std::vector<std::string> command = command_of(script);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  fail_to_start(command[0], errno);
}

std::filesystem::path python_package() {
  const std::filesystem::path above = program_folder().parent_path();
  for (const std::filesystem::path& folder :
       {above / "tools/python/tandem", above / "../..",
        std::filesystem::path(TANDEM_TORCH_FOLDER) / "../python/tandem"}) {
    if (std::filesystem::exists(folder / "kineto.py")) return folder;
  }
  fail(ErrorKind::kUsage,
       "the package of Python is not beside this program, nor where it was built; keep "
       "tools/python there");
}

}  // namespace tandem::cli
