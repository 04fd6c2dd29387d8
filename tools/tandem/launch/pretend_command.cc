// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/pretend_command.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

// What starts a command of Python on pretended GPUs, with the options.
PythonScript starter(const PretendOptions& options) {
  const std::filesystem::path folder = program_folder().parent_path() / "lib/pretend";
  if (!std::filesystem::exists(folder / "libcuda.so.1")) {
    fail(ErrorKind::kUsage,
         "pretending GPUs: {} has no libraries; build the target pretend (cmake "
         "-DTANDEM_PRETEND=ON), or use the archive",
         folder.string());
  }
  PythonScript script{.file = folder / "start",
                      .words = {fmt::format("--gpus={}", options.gpus), "--like=" + options.like,
                                "--log=" + options.log, "--python=" + options.python},
                      .python = options.python};
  if (options.beside_gpu) script.words.emplace_back("--beside-gpu");
  return script;
}

}  // namespace

std::vector<std::string> pretend_variables(const PretendOptions& options) {
  PythonScript script = starter(options);
  script.words.emplace_back("--variables");
  const std::string variables = output_of_script(script);
  std::vector<std::string> found;
  for (const std::string_view line : split(variables, '\n')) {
    if (!line.empty()) found.emplace_back(line);
  }
  return found;
}

void run_pretend(const PretendOptions& options) {
  PythonScript script = starter(options);
  if (script.python.empty() && !options.command.empty()) script.python = options.command[0];
  script.words.emplace_back("--");
  script.words.insert(script.words.end(), options.command.begin(), options.command.end());
  become_script(script);
}

}  // namespace tandem::cli
