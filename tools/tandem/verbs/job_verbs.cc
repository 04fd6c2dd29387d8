// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "common/command_line/parsing.h"
#include "tools/tandem/observe/step_commands.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

using command_line::whole_number;

constexpr int kMostSteps = 100'000;

constexpr std::string_view kStepOptions =
    "All other options are step_bench's, such as --model=mlp-base --batch=64: 'tandem list "
    "options'.";

void add_job(CLI::App& command, StepJobOptions& job) {
  command.add_option("--strategy", job.strategy, "as 'tandem list strategies' has them")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--launch", job.launch, "threads or processes; default: as the strategy is run")
      ->type_name("NAME");
  add_devices(command, job.devices, "devices")->capture_default_str();
  add_backend(command, job.backend);
  add_oversubscribe(command, job.oversubscribe);
  add_site(command, job.site);
  command.add_flag("--dry-run", job.dry_run, "print the command line, and end");
  add_step_bench(command, job.step_bench);
}

void add_steps(CLI::App& command, int& steps) {
  command.add_option("--steps", steps, "steps to capture, behind the warm-up")
      ->type_name("COUNT")
      ->capture_default_str()
      ->check(whole_number(1, kMostSteps));
}

void add_verify(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<StepJobOptions>();
  CLI::App& verify = add_command(
      app, {.name = "verify",
            .what = "train some steps, and compare all numbers with one device's\n"
                    "Gradients of every step and weights, tensor by tensor; ranks must hold the "
                    "same bits. Nothing is timed.",
            .examples = "  tandem verify --strategy=ddp --devices=2 --batch=64\n"
                        "  tandem verify --strategy=dp --devices=2 --model=mlp-base --batch=64",
            .more = "All other options are step_bench's: 'tandem list options'.\n"
                    "Exit status: 0 the numbers agree, 3 they differ, 1 not decided, 2 "
                    "wrong usage."});
  add_job(verify, *options);
  verbs.push_back({&verify,
                   [options](const Call& call) {
                     options->rest = call.rest;
                     return run_verify(*options);
                   },
                   true});
}

void add_trace_record(CLI::App& trace, Verbs& verbs) {
  const auto options = std::make_shared<TraceRecordOptions>();
  CLI::App& record = add_command(
      trace, {.name = "record",
              .what = "record some steps of all ranks on one clock, and say what they show",
              .examples = "  tandem trace record --strategy=ddp --devices=2 --model=mlp-base "
                          "--batch=64\n"
                          "  tandem trace record --strategy=dp --devices=2 --batch=64 --steps=5 "
                          "--out=out/dp-trace",
              .more = kStepOptions});
  add_job(record, options->job);
  add_steps(record, options->steps);
  record
      .add_option("--out", options->out,
                  "folder for what is found; default: a new one, out/trace-1")
      ->type_name("FOLDER");
  add_details(record, options->has_details);
  verbs.push_back({&record,
                   [options](const Call& call) {
                     options->job.rest = call.rest;
                     return record_trace(*options);
                   },
                   true});
}

void add_trace_summary(CLI::App& trace, Verbs& verbs) {
  const auto options = std::make_shared<TraceSummaryOptions>();
  CLI::App& summary = add_command(
      trace, {.name = "summary",
              .what = "say what a trace shows: exposed communication, overlap, skew, waits",
              .examples = "  tandem trace summary out/trace-1/trace.json\n"
                          "  tandem trace summary out/trace-1/trace.json --json"});
  summary.add_option("FILE", options->file, "a trace.json that 'tandem trace record' wrote")
      ->required();
  summary.add_flag("--json", options->as_json, "for programs");
  add_details(summary, options->has_details);
  verbs.push_back({&summary, [options](const Call&) { return print_trace_summary(*options); }});
}

void add_trace_import(CLI::App& trace, Verbs& verbs) {
  const auto read = std::make_shared<TraceImportOptions>();
  CLI::App& from = add_command(
      trace,
      {.name = "import",
       .what =
           "say what PyTorch's profiler recorded of DistributedDataParallel or DataParallel, as "
           "summary does",
       .examples = "  tandem trace import rank0.json rank1.json\n"
                   "  tandem trace import rank0.json rank1.json --out=out/torch-trace.json"});
  from.add_option("FILES", read->files,
                  "what export_chrome_trace wrote, one file of each rank of one run")
      ->required();
  from.add_option("--out", read->out, "write it as a trace.json, for summary and Perfetto")
      ->type_name("FILE");
  add_details(from, read->has_details);
  verbs.push_back({&from, [read](const Call&) { return import_trace(*read); }});
}

void add_trace(CLI::App& app, Verbs& verbs) {
  CLI::App& trace = add_command(
      app, {.name = "trace",
            .what = "a timeline of all ranks for Perfetto, without a profiler",
            .examples = "  tandem trace record --strategy=ddp --devices=2 --model=mlp-base "
                        "--batch=64\n"
                        "  tandem trace summary out/trace-1/trace.json"});
  trace.require_subcommand(0, 1);
  add_trace_record(trace, verbs);
  add_trace_summary(trace, verbs);
  add_trace_import(trace, verbs);
}

}  // namespace

void add_job_verbs(CLI::App& app, Verbs& verbs) {
  add_verify(app, verbs);
  add_trace(app, verbs);
}

}  // namespace tandem::cli
