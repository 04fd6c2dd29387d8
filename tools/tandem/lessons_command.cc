// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/lessons_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/error.h"
#include "common/results/machine_facts.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

std::string find_lessons(const std::string& given) {
  const std::filesystem::path path =
      given.empty() ? program_folder() / "lessons" : std::filesystem::absolute(given);
  if (is_program(path)) return path.string();
  fail(ErrorKind::kUsage, "looking for {}: there is no such program; {}", path.string(),
       given.empty() ? "build the target lessons" : "check --lessons");
}

}  // namespace

std::vector<std::string> lessons_command(const std::string& program, const LessonsOptions& options,
                                         const LessonsMachine& machine) {
  std::vector<std::string> command;
  if (!options.list && machine.cores >= 2 && machine.has_mpirun) {
    command = mpirun_here(2);
  }
  command.push_back(program);
  if (options.list) command.emplace_back("--list");
  command.insert(command.end(), options.names.begin(), options.names.end());
  return command;
}

int run_lessons(const LessonsOptions& options) {
  const LessonsMachine machine{results::gather_machine_facts().cores, is_in_path("mpirun")};
  const Interrupts interrupts;
  std::vector<std::string> environment = launch_environment();
  // mpirun is quiet, since the program itself says in one line what goes wrong. Open MPI 5 has
  // neither this setting nor the flag -q, but says nothing of a program that ends by itself.
  set_variable(environment, "OMPI_MCA_orte_execute_quiet=1");
  const int status = run_relayed(lessons_command(find_lessons(options.program), options, machine),
                                 environment, interrupts);
  if (interrupts.requested()) fmt::print(stderr, "interrupted: the lessons above are done\n");
  return status;
}

}  // namespace tandem::cli
