// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/pretend_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {

std::vector<std::string> pretend_variables(const PretendOptions& options) {
  const std::filesystem::path folder = program_folder().parent_path() / "lib/pretend";
  if (!std::filesystem::exists(folder / "libcuda.so.1")) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: {} has no libraries; build the target pretend (cmake "
         "-DTANDEM_PRETEND=ON), or use the archive",
         folder.string());
  }
  PythonScript script{.file = folder / "start", .words = {"--variables"}, .python = options.python};
  for (const auto& [name, value] :
       {std::pair("gpus", std::to_string(options.gpus)), std::pair("like", options.like),
        std::pair("log", options.log), std::pair("python", options.python)}) {
    script.words.push_back(fmt::format("--{}={}", name, value));
  }
  if (options.beside_gpu) script.words.emplace_back("--beside-gpu");
  if (!options.command.empty()) {
    script.words.insert(script.words.end(), {"--", options.command[0]});
    if (script.python.empty()) script.python = options.command[0];
  }
  const std::string variables = output_of_script(script);
  std::vector<std::string> found;
  for (const std::string_view line : split(variables, '\n')) {
    if (!line.empty()) found.emplace_back(line);
  }
  return found;
}

void run_pretend(const PretendOptions& options) {
  if (options.command.empty()) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: there is no command; put one behind --: tandem pretend -- python3 "
         "train.py");
  }
  for (const std::string& variable : pretend_variables(options)) {
    const std::size_t mark = variable.find('=');
    ::setenv(variable.substr(0, mark).c_str(), variable.substr(mark + 1).c_str(), 1);
  }
  if (options.log.empty()) ::unsetenv("TANDEM_PRETEND_LOG");
  std::vector<char*> arguments;
  for (const std::string& word : options.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  std::fputs("pretended GPUs: host work measured, nothing computed\n", stderr);
  ::execvp(arguments[0], arguments.data());
  fail(ErrorKind::kFailure, "running {}: {}; check the command behind --", options.command[0],
       std::strerror(errno));
}

}  // namespace tandem::cli
