// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/pretend/pretend_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/pretend/symbol_check.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kCards = std::to_array<std::string_view>({"a100", "h100", "rtx4090"});

void check_options(const PretendOptions& options) {
  if (options.gpus < 1 || options.gpus > kMostPretendedGpus) {
    fail(ErrorKind::kUsage, "--gpus={}: use a number from 1 to {}", options.gpus,
         kMostPretendedGpus);
  }
  if (std::ranges::find(kCards, options.like) == kCards.end()) {
    fail(ErrorKind::kUsage, "--like={}: there is no such card; use {}", options.like,
         fmt::join(kCards, ", "));
  }
  if (!options.beside_gpu && has_nvidia_device(options.root)) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: this machine has a real one, and its figures would be mistaken for "
         "measured ones; add --beside-gpu if you mean it");
  }
}

// The log's path from the root, since the command may change its folder.
std::string checked_log(const std::string& log) {
  if (log.empty()) return {};
  const fs::path path = fs::absolute(log);
  if (::access(path.parent_path().c_str(), W_OK | X_OK) != 0) {
    fail(ErrorKind::kUsage, "--log={}: files cannot be made in {}: {}; name another folder", log,
         path.parent_path().string(), std::strerror(errno));
  }
  return path.string();
}

// LD_PRELOAD ends a name at a blank and at a colon.
fs::path library_folder() {
  const fs::path folder = program_folder().parent_path() / "lib/pretend";
  if (!fs::exists(folder / "libcuda.so.1")) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: {} has no libraries; build the target pretend, or use the archive",
         folder.string());
  }
  if (folder.string().find_first_of(" :") != std::string::npos) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: the loader cannot take libraries from {}; move Tandem to a folder "
         "without blanks and colons",
         folder.string());
  }
  return folder;
}

std::vector<std::string> this_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

// Takes the variable out and returns what it held.
std::string take(std::vector<std::string>& variables, std::string_view name) {
  const std::string prefix = fmt::format("{}=", name);
  const auto found = std::ranges::find_if(
      variables, [&](const std::string& variable) { return variable.starts_with(prefix); });
  if (found == variables.end()) return {};
  std::string value = found->substr(prefix.size());
  variables.erase(found);
  return value;
}

void set(std::vector<std::string>& variables, std::string_view name, const std::string& value) {
  take(variables, name);
  if (!value.empty()) variables.push_back(fmt::format("{}={}", name, value));
}

// New parts stand before what the variable held.
void put_before(std::vector<std::string>& variables, std::string_view name,
                const std::string& parts) {
  const std::string before = take(variables, name);
  set(variables, name, before.empty() ? parts : fmt::format("{}:{}", parts, before));
}

[[noreturn]] void execute(const std::vector<std::string>& command,
                          const std::vector<std::string>& environment) {
  std::vector<char*> arguments;
  std::vector<char*> variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& one : environment) variables.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  ::execvpe(arguments[0], arguments.data(), variables.data());
  fail(ErrorKind::kFailure, "running {}: {}; check the command behind --", command[0],
       std::strerror(errno));
}

}  // namespace

void check_wheel(const TorchWheel& wheel) {
  if (wheel.cuda.empty()) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: torch {} of {} is built without CUDA; install the wheel of the package "
         "index there: {} -m pip install torch",
         wheel.version, wheel.python, wheel.python);
  }
  if (cuda_major(wheel) != 12 && cuda_major(wheel) != 13) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: torch {} of {} is built for CUDA {}, and the libraries are those of "
         "CUDA 12 and 13; install a torch for one of them",
         wheel.version, wheel.python, wheel.cuda);
  }
}

std::vector<std::string> environment_for(const PretendOptions& options, const TorchWheel& wheel,
                                         const fs::path& libraries,
                                         const std::vector<std::string>& environment) {
  std::vector<std::string> variables = environment;
  // The first one is what the others share: it sees a process end only where it stands before libc.
  std::vector<std::string> preloaded = {(libraries / "libtandem_pretend.so").string()};
  for (const std::string& soname : pretended_sonames(cuda_major(wheel))) {
    preloaded.push_back((libraries / soname).string());
  }
  put_before(variables, "LD_PRELOAD", fmt::format("{}", fmt::join(preloaded, ":")));
  put_before(variables, "LD_LIBRARY_PATH", libraries.string());
  set(variables, "TANDEM_PRETEND_GPUS", std::to_string(options.gpus));
  set(variables, "TANDEM_PRETEND_LIKE", options.like);
  set(variables, "TANDEM_PRETEND_LOG", options.log);
  set(variables, "TANDEM_PRETEND_VERSIONS", library_versions(wheel));
  return variables;
}

std::vector<std::string> pretend_environment(const PretendOptions& options) {
  check_options(options);
  PretendOptions checked = options;
  checked.log = checked_log(options.log);
  const fs::path libraries = library_folder();
  const TorchWheel wheel = find_torch_wheel(options.python);
  check_wheel(wheel);
  check_symbols(wheel, libraries);
  return environment_for(checked, wheel, libraries, this_environment());
}

std::vector<std::string> pretend_variables(const PretendOptions& options) {
  const std::vector<std::string> before = this_environment();
  std::vector<std::string> variables = pretend_environment(options);
  std::erase_if(variables, [&](const std::string& variable) {
    return std::ranges::find(before, variable) != before.end();
  });
  return variables;
}

void run_pretend(PretendOptions options) {
  if (options.command.empty()) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: there is no command; put one behind --: tandem pretend -- python3 "
         "train.py");
  }
  if (options.python.empty()) options.python = python_of(options.command[0]);
  const std::vector<std::string> environment = pretend_environment(options);
  std::fputs("pretended GPUs: host work measured, nothing computed\n", stderr);
  execute(options.command, environment);
}

}  // namespace tandem::cli
