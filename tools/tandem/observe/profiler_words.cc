// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/profiler_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tandem::cli {
namespace {

using Words = std::vector<std::string>;

bool is_processes(const ObservedJob& job) { return job.cell.launch == "processes"; }
bool is_on_gpus(const ObservedJob& job) { return job.cell.backend == "cuda"; }

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Both tools replace %q{NAME} by the variable's value in each process.
std::string report_name(const ObservedJob& job) {
  if (!is_processes(job)) return (job.out / "process").string();
  const bool is_srun = job.site.launcher == LaunchSite::Launcher::kSrun;
  const char* const rank = is_srun ? "SLURM_PROCID" : "OMPI_COMM_WORLD_RANK";
  return fmt::format("{}%q{{{}}}", (job.out / "rank").string(), rank);
}

// Whether the option stands in one word or in two.
bool replays_graphs(const ObservedJob& job) {
  const std::string words = fmt::format(" {} ", fmt::join(job.options, " "));
  return words.find(" --cuda-graph=on ") != std::string::npos ||
         words.find(" --cuda-graph on ") != std::string::npos;
}

// The ranges are named as common/trace/nvtx_observer.h makes them: where several threads enqueue a
// GPU's step, the ranges are not nested, and ncu marks nested ranges by a slash.
std::string filter_of(const ObservedJob& job, const std::string& range) {
  return "tandem@" + range + (is_processes(job) ? "/" : "");
}

}  // namespace

Words nsys_command(const ObservedJob& job, bool osrt) {
  Words traces{"nvtx"};
  if (is_on_gpus(job)) traces.insert(traces.begin(), "cuda");
  if (is_processes(job)) traces.emplace_back("mpi");
  if (osrt) traces.emplace_back("osrt");
  Words words = launcher_words(job.site, job.cell, job.oversubscribe);
  append(words, {"nsys", "profile", fmt::format("--trace={}", fmt::join(traces, ","))});
  if (is_processes(job)) words.emplace_back("--mpi-impl=openmpi");
  append(words, {"--sample=none", "--cpuctxsw=none"});
  if (is_on_gpus(job)) {
    words.emplace_back("--capture-range=cudaProfilerApi");
  } else {
    append(words, {"--capture-range=nvtx", "--nvtx-capture=capture@tandem"});
  }
  words.emplace_back("--capture-range-end=stop");
  if (replays_graphs(job)) words.emplace_back("--cuda-graph-trace=node");
  append(words, {"--force-overwrite=true", "--output=" + report_name(job)});
  append(words, step_bench_words(job));
  return words;
}

Words ncu_command(const ObservedJob& job, const std::vector<std::string>& phases) {
  Words words = launcher_words(job.site, job.cell, job.oversubscribe);
  append(words, {"ncu", "--target-processes", "all", "--profile-from-start", "off", "--nvtx"});
  for (const std::string& phase : phases.empty() ? Words{"step"} : phases) {
    append(words, {"--nvtx-include", filter_of(job, phase)});
  }
  append(words, {"--kernel-name", "regex:^(?!nccl)", "--clock-control", "none", "--force-overwrite",
                 "--export", report_name(job)});
  append(words, step_bench_words(job));
  // A rank whose kernels are replayed keeps the other ranks waiting.
  if (!has_option(job, "--comm-timeout")) words.emplace_back("--comm-timeout=600s");
  return words;
}

Words nsys_stats_command(const ObservedJob& job, const std::filesystem::path& report) {
  Words tables{"nvtx_sum"};
  if (is_on_gpus(job)) append(tables, {"nvtx_gpu_proj_sum", "cuda_gpu_kern_sum", "cuda_api_sum"});
  if (is_processes(job)) tables.emplace_back("mpi_event_sum");
  std::filesystem::path name = report;
  name.replace_extension();
  return {"nsys",
          "stats",
          fmt::format("--report={}", fmt::join(tables, ",")),
          "--format=csv",
          "--force-export=true",
          "--force-overwrite=true",
          "--output=" + name.string(),
          report.string()};
}

int report_count(const ObservedJob& job) { return is_processes(job) ? job.cell.devices : 1; }

}  // namespace tandem::cli
