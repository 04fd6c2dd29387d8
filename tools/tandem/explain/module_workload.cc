// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/module_workload.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::cli {
namespace {

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

// The module's facts from the step that precedes its export into the scratch folder.
ModuleFacts export_module(ModuleWorkload& workload, const ModuleQuestion& question,
                          const TorchTwin& torch, const Interrupts& interrupts) {
  workload.scratch = std::make_unique<TemporaryFolder>();
  workload.fresh = workload.scratch->path() / workload.file.filename();
  ModuleFacts facts = facts_of_module(torch, workload.source,
                                      {.batch = question.share,
                                       .backend = question.backend,
                                       .export_to = workload.fresh,
                                       .patience = question.patience},
                                      interrupts);
  fmt::print(stderr, "{}: Tandem's rungs train it in place of {}\n",
             workload.file.filename().string(), question.source);
  return facts;
}

}  // namespace

ModuleWorkload workload_of_module(const ModuleQuestion& question, const TorchTwin& torch) {
  const std::string name = short_name(question.source) + ".workload.json";
  ModuleWorkload workload{.source = absolute_source(question.source, {}),
                          .file = std::filesystem::absolute(question.folder) / name};
  check_place(question, workload.file);
  const Interrupts interrupts;
  if (!question.is_resumed) {
    workload.facts = export_module(workload, question, torch, interrupts);
  } else {
    workload.facts = facts_of_module(
        torch, workload.source,
        {.batch = question.share, .backend = question.backend, .patience = question.patience},
        interrupts);
  }
  say_unused(workload.facts);
  return workload;
}

}  // namespace tandem::cli
