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
#include "tools/tandem/replay/replay_command.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

struct LessonsOptions {
  std::vector<std::string> names{};  // empty: all lessons
  bool list = false;                 // print the names and run nothing
};

// Returns the exit status of the program `lessons`, 130 after an interrupt.
int run_lessons(const LessonsOptions& options) {
  const std::filesystem::path program = program_folder() / "lessons";
  if (!is_program(program)) {
    fail(ErrorKind::kUsage, "looking for {}: there is no such program; build the target lessons",
         program.string());
  }
  std::vector<std::string> command{program.string()};
  if (options.list) command.emplace_back("--list");
  command.insert(command.end(), options.names.begin(), options.names.end());
  const Interrupts interrupts;
  const int status = run_relayed(command, launch_environment(), interrupts);
  if (interrupts.requested()) fmt::print(stderr, "interrupted: the lessons above are done\n");
  return status;
}

void add_lessons(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<LessonsOptions>();
  CLI::App& lessons =
      add_command(app, {.name = "lessons",
                        .what = "run and judge claims that circulate about DataParallel",
                        .examples = "  tandem lessons\n"
                                    "  tandem lessons even-split",
                        .more = "Exit status: 0 every lesson ran, whatever its verdict, 1 one "
                                "failed, 2 wrong usage."});
  lessons.add_option("NAME", options->names, "lessons to run; default: all");
  lessons.add_flag("--list", options->list, "name them, and end");
  verbs.push_back({&lessons, [options](const Call&) { return run_lessons(*options); }});
}

void add_pretend(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<PretendOptions>();
  CLI::App& pretend = add_command(
      app,
      {.name = "pretend",
       .what = "run PyTorch on GPUs that are not there: the host's work alone, logged",
       .examples = "  tandem pretend --gpus=8 -- python3 train.py\n"
                   "  tandem pretend --gpus=4 --like=h100 --log=out/calls -- torchrun train.py",
       .more = "Nothing is computed: what a program reads back from a device is zero or old. The "
               "exit status is the command's."});
  pretend.add_option("COMMAND", options->command, "what to run, behind --");
  pretend.add_option("--gpus", options->gpus, "how many GPUs to pretend")
      ->type_name("COUNT")
      ->capture_default_str();
  pretend.add_option("--like", options->like, "which GPU they are like")
      ->type_name("a100|h100|rtx4090")
      ->capture_default_str();
  pretend
      .add_option("--log", options->log,
                  "write each call as a line of JSON to FILE.PID, as out/calls")
      ->type_name("FILE");
  pretend
      .add_option("--python", options->python,
                  "the Python whose torch is checked; default: the command's")
      ->type_name("PYTHON");
  pretend.add_flag("--beside-gpu", options->beside_gpu, "also on a machine with a real GPU");
  verbs.push_back({.app = &pretend,
                   .run = [options](const Call& call) -> int {
                     if (!call.behind.empty()) options->command = call.behind;
                     run_pretend(*options);
                   },
                   .takes_command = true});
}

void add_replay(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App& replay = add_command(
      app,
      {.name = "replay",
       .what = "solve a log of pretended GPUs on described hardware: PyTorch's own step",
       .examples = "  tandem replay out/calls --hardware=dgx-a100\n"
                   "  tandem replay out/calls --hardware=dgx-a100 --strategy=dp --model=resnet50 "
                   "--devices=4 --batch=48",
       .more = "Options of step_bench have the simulated step of that strategy printed beside. "
               "Exit status: 0 solved, 1 failed, 2 wrong usage."});
  replay.add_option("LOG", options->log, "what tandem pretend --log was given, or a folder")
      ->required();
  replay.add_option("--hardware", options->hardware, "the machine: a name or FILE.json")
      ->type_name("NAME")
      ->required();
  replay
      .add_option("--host-speed", options->host_speed,
                  "how much faster the machine's processor does the host's work than this one; 1: "
                  "as logged; absent: slower, by the interpreter's factor of tandem project")
      ->type_name("FACTOR");
  add_step_bench(replay, options->step_bench);
  verbs.push_back({.app = &replay,
                   .run =
                       [options](const Call& call) {
                         options->strategy = call.rest;
                         replay_log(*options);
                         return 0;
                       },
                   .takes_step_options = true});
}

}  // namespace

void add_other_verbs(CLI::App& app, Verbs& verbs) {
  add_doctor(app, verbs);
  add_lessons(app, verbs);
  add_list(app, verbs);
  add_pretend(app, verbs);
  add_replay(app, verbs);
}

}  // namespace tandem::cli
