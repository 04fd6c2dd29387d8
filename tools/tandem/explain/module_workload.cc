// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/module_workload.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "common/base/error.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

constexpr std::chrono::seconds kCalibrationPatience{600};

void check_trained(const ModuleFacts& facts) {
  if (facts.unused.empty()) return;
  fail(ErrorKind::kUsage,
       "{}: a step gives {} no gradient, for which DistributedDataParallel waits: freeze it "
       "(requires_grad = False), or use it",
       facts.name, facts.unused);
}

void check_place(const ModuleQuestion& question, const std::filesystem::path& file) {
  const bool is_there = std::filesystem::exists(file);
  if (question.is_resumed && !is_there) {
    fail(ErrorKind::kUsage,
         "resuming {}: it has no {}, the export that Tandem's rungs train; choose another --out",
         question.folder.string(), file.filename().string());
  }
  if (!question.is_resumed && is_there) {
    fail(ErrorKind::kUsage,
         "--out: {} holds {} of another run, which would be overwritten: choose another folder",
         question.folder.string(), file.filename().string());
  }
}

// The line of step_bench that tells how near the replay comes; "" where there is none.
std::string nearness_in(const std::filesystem::path& log) {
  std::string found;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("batch ")) found = "; " + line;
  }
  return found;
}

// Layers known by their seconds need products that take as long on this machine; step_bench finds
// them. Returns how near the replay comes.
std::string calibrate(const std::filesystem::path& raw, const std::filesystem::path& file,
                      const ModuleQuestion& question, const Interrupts& interrupts) {
  const std::filesystem::path log = raw.parent_path() / "calibration.log";
  const ChildResult child = run_child(
      {.arguments = {question.step_bench.string(), "--strategy=single", "--model=" + raw.string(),
                     fmt::format("--batch={}", question.share), "--devices=1", "--backend=host",
                     "--write-workload=" + file.string()},
       .environment = launch_environment(),
       .log = log,
       .timeout = kCalibrationPatience},
      interrupts);
  const std::string what = "calibrating the export of " + question.source;
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(what);
  if (child.has_exited(0)) return nearness_in(log);
  fail(ErrorKind::kFailure, "{}: {}", what, reason_of(child, "step_bench", kCalibrationPatience));
}

// The module's facts from the step that precedes its export into the scratch folder.
ModuleFacts export_module(ModuleWorkload& workload, const ModuleQuestion& question,
                          const TorchTwin& torch, const Interrupts& interrupts) {
  workload.scratch = std::make_unique<TemporaryFolder>();
  workload.fresh = workload.scratch->path() / workload.file.filename();
  const bool is_timed = is_on_host(question.backend);
  const std::filesystem::path raw =
      is_timed ? workload.scratch->path() / "raw.json" : workload.fresh;
  ModuleFacts facts = facts_of_module(torch, workload.source,
                                      {.batch = question.share,
                                       .backend = question.backend,
                                       .export_to = raw,
                                       .patience = question.patience},
                                      interrupts);
  check_trained(facts);
  const std::string nearness = is_timed ? calibrate(raw, workload.fresh, question, interrupts) : "";
  fmt::print(stderr, "{}: Tandem's rungs train it in place of {}{}\n",
             workload.file.filename().string(), question.source, nearness);
  return facts;
}

}  // namespace

ModuleWorkload workload_of_module(const ModuleQuestion& question, const TorchTwin& torch) {
  const std::string name = short_name(question.source) + ".workload.json";
  ModuleWorkload workload{.facts = {},
                          .source = absolute_source(question.source, {}),
                          .file = std::filesystem::absolute(question.folder) / name,
                          .fresh = {},
                          .scratch = {}};
  check_place(question, workload.file);
  const Interrupts interrupts;
  if (!question.is_resumed) {
    workload.facts = export_module(workload, question, torch, interrupts);
    return workload;
  }
  workload.facts = facts_of_module(
      torch, workload.source,
      {.batch = question.share, .backend = question.backend, .patience = question.patience},
      interrupts);
  check_trained(workload.facts);
  return workload;
}

}  // namespace tandem::cli
