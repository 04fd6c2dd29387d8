// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/python_script.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

constexpr int kNoProgram = 127;  // the shell's exit status where it finds no program

std::string python_of(const PythonScript& script) {
  return script.python.empty() || is_in_path("python3") ? "python3" : script.python;
}

// Isolated (-I): modules of the working folder and variables of Python mean other programs.
std::string command_of(const PythonScript& script, const std::filesystem::path& errors) {
  std::string command =
      fmt::format("{} -I -B {}", shell_word(python_of(script)), shell_word(script.file.string()));
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
  int state = 0;
  std::string text = output_of(command_of(script, errors), &state);
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

namespace {

// The script of the project in pretend/, with its options.
PythonScript pretend_script(const PretendOptions& options) {
  const std::filesystem::path folder = program_folder().parent_path() / "lib/pretend";
  if (!std::filesystem::exists(folder / "libcuda.so.1")) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: {} has no libraries; build the target pretend (cmake "
         "-DTANDEM_PRETEND=ON), or use the archive",
         folder.string());
  }
  PythonScript script{.file = folder / "start", .words = {}, .python = options.python};
  for (const auto& [name, value] :
       {std::pair("gpus", std::to_string(options.gpus)), std::pair("like", options.like),
        std::pair("log", options.log), std::pair("python", options.python)}) {
    script.words.push_back(fmt::format("--{}={}", name, value));
  }
  if (options.patience) script.words.push_back(fmt::format("--patience={}", *options.patience));
  if (options.beside_gpu) script.words.emplace_back("--beside-gpu");
  if (options.check) script.words.emplace_back("--check");
  return script;
}

}  // namespace

std::vector<std::string> pretend_variables(const PretendOptions& options) {
  PythonScript script = pretend_script(options);
  script.words.emplace_back("--variables");
  const std::string variables = output_of_script(script);
  std::vector<std::string> found;
  for (const std::string_view line : split(variables, '\n')) {
    if (!line.empty()) found.emplace_back(line);
  }
  return found;
}

void run_pretend(const PretendOptions& options) {
  PythonScript script = pretend_script(options);
  script.words.emplace_back("--");
  script.words.insert(script.words.end(), options.command.begin(), options.command.end());
  if (script.python.empty() && !options.command.empty()) script.python = options.command[0];
  const std::string python = python_of(script);
  std::vector<const char*> words{python.c_str(), "-I", "-B", script.file.c_str()};
  for (const std::string& word : script.words) words.push_back(word.c_str());
  words.push_back(nullptr);
  ::execvp(words[0], const_cast<char* const*>(words.data()));
  fail(ErrorKind::kFailure, "starting {}: {}; install Python 3.9 or newer", python,
       std::strerror(errno));
}

}  // namespace tandem::cli
