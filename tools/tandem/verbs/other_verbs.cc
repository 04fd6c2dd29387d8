// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

struct LessonsOptions {
  std::vector<std::string> names{};  // empty: all lessons
  bool list = false;                 // print the names and run nothing
  std::string torch{};               // the python of PyTorch's lessons; empty: Tandem's lessons
};

// The script of PyTorch's lessons, which measure nothing: a real GPU does not stand in their way.
std::vector<std::string> torch_lessons(const std::string& python,
                                       std::vector<std::string>& environment) {
  std::vector<std::string> command{python, "-B", torch_script("lessons.py").string()};
  const std::vector<std::string> pretended =
      pretend_variables({.gpus = 2, .beside_gpu = true, .python = python});
  environment.insert(environment.end(), pretended.begin(), pretended.end());
  return command;
}

std::vector<std::string> own_lessons() {
  const std::filesystem::path program = program_folder() / "lessons";
  if (!is_program(program)) {
    fail(ErrorKind::kUsage, "looking for {}: there is no such program; build the target lessons",
         program.string());
  }
  return {program.string()};
}

// Returns the exit status of the program `lessons`, or PyTorch's script; 130 after an interrupt.
int run_lessons(const LessonsOptions& options) {
  std::vector<std::string> environment = launch_environment();
  std::vector<std::string> command =
      options.torch.empty() ? own_lessons() : torch_lessons(options.torch, environment);
  if (options.list) command.emplace_back("--list");
  command.insert(command.end(), options.names.begin(), options.names.end());
  const Interrupts interrupts;
  const int status = run_relayed(command, environment, interrupts);
  if (interrupts.requested()) fmt::print(stderr, "interrupted: the lessons above are done\n");
  return status;
}

void add_lessons(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<LessonsOptions>();
  CLI::App& lessons =
      add_command(app, {.name = "lessons",
                        .what = "run and judge claims that circulate about DataParallel",
                        .examples = "  tandem lessons\n"
                                    "  tandem lessons even-split\n"
                                    "  tandem lessons --with-torch",
                        .more = "Exit status: 0 every lesson ran, whatever its verdict, 1 one "
                                "failed, or does not hold in PyTorch, 2 wrong usage."});
  lessons.add_option("NAME", options->names, "lessons to run; default: all");
  lessons.add_flag("--list", options->list, "name them, and end");
  lessons
      .add_flag("--with-torch{python3}", options->torch,
                "PyTorch's own lessons in place of Tandem's, run on pretended GPUs by the python3 "
                "in PATH or another one")
      ->type_name("PYTHON");
  verbs.push_back({&lessons, [options](const Call&) { return run_lessons(*options); }});
}

void add_pretend(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<PretendOptions>();
  CLI::App& pretend = add_command(
      app,
      {.name = "pretend",
       .what = "run PyTorch on GPUs that are not there: the host's work alone, logged",
       .examples = "  tandem pretend --gpus=8 -- python3 train.py\n"
                   "  tandem pretend --gpus=4 --like=h100 --log=out/calls -- torchrun train.py\n"
                   "  tandem pretend --gpus=4 --check -- torchrun --nproc-per-node=4 train.py",
       .more = "Floats are not computed: those that a program reads back are zero or old. The "
               "exit status is the command's, or 3 where --check found ranks that can never go "
               "on."});
  pretend.add_option("COMMAND", options->command, "what to run, behind --");
  add_usual(pretend, "--gpus COUNT", options->gpus, "how many GPUs to pretend");
  add_usual(pretend, "--like a100|h100|rtx4090|rtx3090|v100", options->like,
            "which GPU they are like");
  add(pretend, "--log FILE", options->log,
      "write each call as a line of JSON to FILE.PID, as out/calls");
  add(pretend, "--python PYTHON", options->python,
      "the Python whose torch is checked; default: the command's");
  pretend.add_flag("--check", options->check,
                   "match the ranks' collectives, let the host wait for them, and end a job that "
                   "hangs; measures nothing");
  add(pretend, "--patience SECONDS", options->patience,
      "with --check: how long ranks may wait for a late one")
      ->default_str("30");
  pretend.add_flag("--beside-gpu", options->beside_gpu, "also on a machine with a real GPU");
  verbs.push_back({.app = &pretend,
                   .run = [options](const Call& call) -> int {
                     if (!call.behind.empty()) options->command = call.behind;
                     run_pretend(*options);
                   },
                   .takes_command = true});
}

}  // namespace

void add_other_verbs(CLI::App& app, Verbs& verbs) {
  add_doctor(app, verbs);
  add_lessons(app, verbs);
  add_list(app, verbs);
  add_pretend(app, verbs);
}

}  // namespace tandem::cli
