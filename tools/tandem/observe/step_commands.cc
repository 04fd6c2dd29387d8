// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/step_commands.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/results/files.h"
#include "common/timeline/clocks.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/trace_json.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

fs::path absolute_or_new(const std::string& out, const char* name) {
  return fs::absolute(out.empty() ? new_folder(name) : fs::path(out));
}

InputFile trace_file(const fs::path& file) {
  return {.path = file, .begins = "reading trace ", .most = gib(4)};
}

// Throws a usage error where the file is no trace of step_bench trace, or no step of the trace
// has ended.
timeline::Trace read_trace(const fs::path& file) {
  const std::string text = read_whole(trace_file(file));
  timeline::Trace trace = timeline::parse_trace(text, file.string());
  if (timeline::steps_of(trace).empty()) {
    fail(ErrorKind::kUsage,
         "{}: no step of it has ended, so that there is nothing to say: record it again",
         file.string());
  }
  return trace;
}

}  // namespace

int run_verify(const StepJobOptions& options) {
  return run_own(job_of(options, Watcher::kVerifier, "verify"), options);
}

int run_contention(const ContentionOptions& options) {
  ObservedJob job = job_of(options.job, Watcher::kContention, "contention");
  job.out = absolute_or_new(options.out, "contention");
  return run_own(job, options.job);
}

int record_trace(const TraceRecordOptions& options) {
  ObservedJob job = job_of(options.job, Watcher::kTrace, "trace record");
  job.steps = options.steps;
  job.out = absolute_or_new(options.out, "trace");
  const int status = run_own(job, options.job);
  if (status != 0 || options.job.dry_run) return status;
  const std::string file = own_report(job).string();
  fmt::print("\n");
  static_cast<void>(print_trace_summary(file, false));
  fmt::print(
      "\n{}\nopen it with https://ui.perfetto.dev, which keeps it in the browser, or "
      "chrome://tracing\n",
      file);
  return 0;
}

int print_trace_summary(const std::string& file, bool as_json) {
  const timeline::Trace trace = read_trace(file);
  const auto summary = timeline::summary_of(trace);
  fmt::print("{}", as_json ? timeline::to_json(summary) : timeline::to_text(trace, summary));
  return 0;
}

int export_trace(const TraceExportOptions& options) {
  static_cast<void>(read_trace(options.file));
  fmt::print("{}", output_of_script({.file = torch_script("kineto.py"),
                                     .words = {"export", options.file, options.out}}));
  return 0;
}

int import_trace(const TraceImportOptions& options) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "trace.json";
  PythonScript script{.file = torch_script("kineto.py"), .words = {"import"}};
  for (const std::string& source : options.files) {
    check_input(trace_file(source));
    script.words.push_back(source);
  }
  script.words.push_back(file.string());
  static_cast<void>(output_of_script(script));
  timeline::Trace trace = read_trace(file);
  timeline::match_collectives(trace);
  fmt::print("{}", timeline::to_text(trace, timeline::summary_of(trace)));
  if (options.out.empty()) return 0;
  results::replace_file(options.out, timeline::to_json(trace));
  fmt::print("\n{}\n", options.out);
  return 0;
}

}  // namespace tandem::cli
