// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "common/command_line/parsing.h"
#include "tools/tandem/explain/explain_command.h"
#include "tools/tandem/project/project_command.h"
#include "tools/tandem/run/run_command.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

using command_line::whole_number;

constexpr int kMostLaunches = 1000;
constexpr int kMostCalibrationLaunches = 100;

void add_measuring(CLI::App& command, MeasuringOptions& options, const std::string& of_torch,
                   const std::string& of_none) {
  command
      .add_flag("--with-torch{python3}", options.torch,
                of_torch + ", by the python3 in PATH or another one; off: none, " + of_none)
      ->type_name("PYTHON");
  add_details(command, options.has_details);
  add_oversubscribe(command, options.oversubscribe);
  add_site(command, options.site);
  add_usual(command, "--launch-timeout TIME", options.launch_timeout,
            "give up on a launch after this");
  add(command, "--comm-timeout TIME", options.comm_timeout,
      "ranks give up on one that is late by this, such as 10s; default: 60s");
  add_step_bench(command, options.step_bench);
}

void add_module(CLI::App& run, ModuleOptions& module) {
  add(run, "--module FUNCTION", module.source,
      "PyTorch's own strategies on your module: FILE.py:FUNCTION or MODULE:FUNCTION, which "
      "returns the module and an example batch; with SWEEP in place of the sweep's models");
  add(run, "--batch-per-device SAMPLES,...", module.batch_per_device,
      "with --module: samples per step and device, such as 8,32");
  add(run, "--batch SAMPLES,...", module.batch, "the same over all devices, such as 64,256");
  add(run, "--cell STRATEGY OPTION=VALUE ...", module.cells,
      "with --module: a strategy with options to compare as well, such as \"ddp grads=views\"; "
      "without a strategy all that have the options; may be repeated")
      ->take_all();
}

void add_pretended(CLI::App& run, PretendOptions& pretended) {
  CLI::Option* const gpus =
      add(run, "--pretend COUNT", pretended.gpus,
          "with --module: measure the host's work alone, on so many pretended GPUs")
          ->check(whole_number(1, kMostPretendedGpus));
  add_usual(run, "--like CARD", pretended.like, "with --pretend: which GPU they are like")
      ->needs(gpus);
  run.add_flag("--beside-gpu", pretended.beside_gpu,
               "with --pretend: also on a machine with a real GPU")
      ->needs(gpus);
}

void add_run(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& run = add_command(
      app,
      {.name = "run",
       .what = "measure a sweep, and report on it\n"
               "The same command with the same --out goes on where it was stopped.",
       .examples = "  tandem run\n"
                   "  tandem run scaling --devices=4 --budget=30m --out=out/four\n"
                   "  tandem run --module=own.py:build --batch-per-device=8,32\n"
                   "  tandem run node --module=own.py:build --batch-per-device=8,32 --devices=8\n"
                   "  tandem run --module=own.py:build --batch-per-device=8 --pretend=4",
       .more = "Exit status: 0 measured, 1 a launch failed, 2 wrong usage, 130 interrupted."});
  run.add_option("SWEEP", options->sweep,
                 "a name that 'tandem list sweeps' has, or a .json file; default: quick on CPUs, "
                 "node where there is a GPU");
  add_module(run, options->module);
  add_pretended(run, options->pretended);
  add(run, "--out FOLDER", options->out,
      "folder for journal, results, report and logs; default: a new one, out/SWEEP-1");
  add_devices(run, options->devices,
              "the most devices, and what \"all\" in a sweep means; default: the cores or GPUs "
              "found here, and all counts that the sweep names");
  add(run, "--launches COUNT", options->launches,
      "launches per cell; default: the sweep's, mostly 6")
      ->check(whole_number(1, kMostLaunches));
  add(run, "--budget TIME", options->budget,
      "measure the most informative cells that fit into this time, such as 30m, and start "
      "no launch after it; default: the sweep's, node has 10m");
  run.add_flag("--resolve{3%}", options->resolve,
               "after 4 launches (or --launches), go on a round at a time with dp and ddp where "
               "they are neither resolved nor equal within this ratio, up to six times as many; "
               "the verdicts hold together at 95 %")
      ->type_name("RATIO");
  run.add_flag("--dry-run", options->dry_run,
               "list the cells with a guess of their time, what is not measured and why, and end");
  add_backend(run, options->backend);
  add_measuring(
      run, *options, "PyTorch's own single, independent, ddp and, between GPUs, dp as well",
      "not even the dp and ddp that are measured unasked between GPUs where python3 has torch");
  verbs.push_back({&run, [options](const Call& call) {
                     options->command = call.command;
                     return run_sweep(*options);
                   }});
}

void add_question(CLI::App& explain, reports::GapQuestion& question) {
  add(explain, "--model MODEL", question.model, "what is trained, such as mlp-base");
  add(explain, "--batch SAMPLES", question.batch, "samples per step over all devices, such as 64")
      ->required();
  add_usual(explain, "--devices COUNT", question.devices, "devices, 2 or more");
  add_usual(explain, "--input NAME", question.input,
            "where a batch starts: host (pinned), pageable or device");
  add_usual(explain, "--precision NAME", question.precision, "fp32, tf32 or bf16, on all rungs");
  add(explain, "--dispatch-cost COSTS", question.dispatch_cost,
      "a modelled chart as well: an interpreter's cost per call, such as 8us, or costs of "
      "kinds, as step_bench has them");
  explain.add_flag("--interpreter-lock", question.interpreter_lock,
                   "in that chart also the lock that threads share");
  add(explain, "--plant PHASE:TIME", question.plant,
      "a delay, such as replicate:2ms, in that phase on device 0, once per step, of "
      "every rung that has the phase: to see it found");
}

void add_explain(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App& explain = add_command(
      app,
      {.name = "explain",
       .what = "say why dp and ddp differ, cause by cause\n"
               "Measures what is missing first: one variant for each step from dp to ddp.",
       .examples = "  tandem explain --model=mlp-base --batch=64\n"
                   "  tandem explain out/quick-1 --model=mlp-small --batch=512\n"
                   "  tandem explain --module=own.py:build --batch=16 --devices=2",
       .more = "Exit status: 0 explained, 1 a launch failed, 2 wrong usage, 130 interrupted."});
  explain.add_option("FOLDER", options->source,
                     "a run or an explanation: its launches are used, missing ones added; a "
                     "projection: the ladder is simulated");
  add(explain, "--out FOLDER", options->out,
      "without FOLDER: where launches go; the same again resumes; default: a new one, "
      "out/explain-1");
  add(explain, "--module FUNCTION", options->module,
      "in place of --model: PyTorch's own ddp, dp (on GPUs) and single on your module, "
      "Tandem's rungs on its export; as in tandem run");
  add_question(explain, options->question);
  add_usual(explain, "--launches COUNT", options->launches, "launches per rung")
      ->check(whole_number(1, kMostLaunches));
  add(explain, "--backend NAME", options->backend,
      "auto, host or cuda; default: as FOLDER was measured, else auto");
  add(explain, "--min-time TIME", options->min_time,
      "measure a launch at least this long; default: as FOLDER was, else 500ms");
  add_measuring(explain, *options, "two steps more, from PyTorch's own ddp to ours",
                "as without the option");
  verbs.push_back({&explain, [options](const Call& call) {
                     options->command = call.command;
                     return explain_gap(*options);
                   }});
}

// Options for a model or module on a described machine.
void add_described(CLI::App& project, ProjectOptions& options) {
  add(project, "--model MODEL", options.model,
      "in place of FOLDER: a built-in model or a workload file; needs --hardware and "
      "--batch-per-device or --batch");
  add(project, "--module FUNCTION", options.module,
      "in place of FOLDER: your module, as in tandem run, listed on a pretended GPU");
  add(project, "--precision NAME", options.precision,
      "for a model or module: fp32, tf32 or bf16; for a module also fp16");
  add(project, "--single-step TIME", options.single_step,
      "for a model or module: the step of one such device, as measured or "
      "published, to which operations are scaled; with one --batch-per-device");
  add(project, "--dispatch-cost COSTS|off", options.dispatch_cost,
      "for a model or module: the cost of PyTorch's work on the host, as in step_bench, "
      "or off; default: as measured on pretended devices, scaled to published steps");
  add(project, "--accumulate COUNT", options.accumulate,
      "for a model or module: micro-batches of ddp's step, of which the last is reduced; dp is "
      "left out");
  add(project, "--compress FORM", options.compress,
      "for a model or module: the form in which ddp reduces gradients, fp16 or bf16");
  add(project, "--with-torch PYTHON", options.torch,
      "with --module: the python that has torch; default: python3");
}

void add_projected_sizes(CLI::App& project, ProjectOptions& options) {
  add(project, "--bucket-mb SIZES", options.bucket_mb,
      "ddp's bucket sizes to project, such as 1,25")
      ->delimiter(',')
      ->allow_extra_args(false);
  add(project, "--batch-per-device COUNTS", options.shares,
      "samples of a device to project, such as 8,32, in place of the measured cells'")
      ->delimiter(',')
      ->allow_extra_args(false);
  add(project, "--batch SAMPLES,...", options.batches,
      "for a model or module, in place of --batch-per-device: the same over all devices, "
      "such as 64,256")
      ->delimiter(',')
      ->allow_extra_args(false);
}

// Options for a folder's measurements.
void add_held_out(CLI::App& project, ProjectOptions& options) {
  add(project, "--launches COUNT", options.launches,
      fmt::format("with FOLDER: times that the operations of each model are timed, a "
                  "process each; default: {}",
                  kUsualCalibrationLaunches))
      ->check(whole_number(1, kMostCalibrationLaunches));
}

void add_project(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ProjectOptions>();
  CLI::App& project = add_command(
      app,
      {.name = "project",
       .what =
           "project dp and ddp on more devices, or on GPUs you do not have, and how sure that is\n"
           "With FOLDER: times the operations of the measured models on one device, predicts "
           "every measured cell from them, and then dp and ddp on more devices. With a model "
           "or module: steps on a described machine, with the method's errors on published "
           "measurements.",
       .examples = "  tandem project out/quick-1\n"
                   "  tandem project out/quick-1 --devices=64 --bucket-mb=1,25,100\n"
                   "  tandem project --module=own.py:build --hardware=dgx-a100 --devices=1..64 "
                   "--batch-per-device=8,32",
       .more = "Exit status: 0 projected, 1 nothing could be simulated, 2 wrong usage, 130 "
               "interrupted."});
  project.add_option("FOLDER", options->source, "a run, or a results.json");
  add_described(project, *options);
  add(project, "--out FOLDER", options->out,
      "where calibrations, projection.md and the simulated launches go; default: "
      "projected in FOLDER, else a new one, out/project-1");
  add(project, "--devices COUNTS", options->devices,
      "up to 64 or 1..64 are 1, 2, 4, ... of them, 2,6 is a list; at most 1024; default: "
      "8, or for a model or module all GPUs of --hardware");
  add(project, "--hardware NAME|FILE", options->hardware,
      "for a model or module: the devices, by a name that 'tandem list hardware' has or "
      "a file that describes them");
  add_projected_sizes(project, *options);
  add_held_out(project, *options);
  add_details(project, options->has_details);
  add_step_bench(project, options->step_bench);
  verbs.push_back({&project, [options](const Call& call) {
                     options->command = call.command;
                     return cli::project(*options);
                   }});
}

}  // namespace

void add_measuring_verbs(CLI::App& app, Verbs& verbs) {
  add_run(app, verbs);
  add_explain(app, verbs);
  add_project(app, verbs);
}

}  // namespace tandem::cli
