// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/gpu_load.h"

#include <fmt/format.h>

#include <set>

#include "common/results/record_text.h"

namespace tandem::doctor {
namespace {

using results::GpuRecord;

constexpr double kHeldDown = 0.01;

std::string name_of(const GpuRecord& gpu) {
  return fmt::format("device {} ({})", gpu.device, gpu.pci);
}

void judge_clocks(const std::vector<GpuRecord>& gpus, Findings& findings) {
  const std::string subject = "throttling";
  const std::size_t before = findings.size();
  bool is_counted = false;
  for (const GpuRecord& gpu : gpus) {
    is_counted = is_counted || !gpu.held_down_ms.empty();
    for (const auto& [cause, ms] : gpu.held_down_ms) {
      if (ms < kHeldDown * gpu.watched_ms.value_or(0) || ms <= 0) continue;
      findings.push_back(
          warning(subject,
                  fmt::format("{}: {} held its clocks down for {:.0f} of {:.0f} ms", name_of(gpu),
                              cause, ms, gpu.watched_ms.value_or(0)),
                  cause.starts_with("thermal")
                      ? "look at the node's cooling; figures are those of a hot GPU"
                      : "compare only with runs under the same cap (nvidia-smi -q -d POWER)"));
    }
  }
  if (findings.size() > before) return;
  findings.push_back(
      is_counted ? ok(subject, "clocks were not held down during a second of steps")
                 : not_checked(subject, "the driver does not count what holds clocks down"));
}

void judge_company(const std::vector<GpuRecord>& gpus, Findings& findings) {
  for (const GpuRecord& gpu : gpus) {
    if (gpu.processes.value_or(1) <= 1) continue;
    findings.push_back(problem("busy GPUs",
                               fmt::format("{}: {} processes besides Tandem's compute on it",
                                           name_of(gpu), *gpu.processes - 1),
                               "end them (nvidia-smi names them), or name other GPUs (--gpus)"));
  }
}

void judge_duplicates(const std::vector<GpuRecord>& gpus, Findings& findings) {
  std::set<std::string> seen;
  for (const GpuRecord& gpu : gpus) {
    if (seen.insert(gpu.hardware).second) continue;
    findings.push_back(problem("duplicate GPUs", name_of(gpu) + " is the GPU of another device too",
                               "look at CUDA_VISIBLE_DEVICES and at how the container passes GPUs "
                               "through"));
  }
}

}  // namespace

GpuLoad run_gpu_load(const Programs& programs, int devices) {
  const std::filesystem::path record = programs.file("record.json");
  GpuLoad load{
      .run = programs.run(
          "step_bench", {"--backend=cuda", "--strategy=independent", "--launch=threads",
                         fmt::format("--devices={}", devices), "--model=mlp-base",
                         "--batch-per-device=256", "--min-time=1s", "--record=" + record.string()}),
      .record = {}};
  if (load.run.is_done()) load.record = results::read_record(record);
  return load;
}

Findings judge_gpu_load(const GpuLoad& load) {
  const std::string driver =
      load.record && !load.record->gpus.empty() ? load.record->gpus.front().driver : "";
  Findings findings{judge_run(load.run, "cuda",
                              driver.empty()
                                  ? "the driver runs this build's CUDA"
                                  : fmt::format("driver {} runs this build's CUDA", driver),
                              "do what it says; --backend=host measures the CPU in the meantime")};
  if (!load.record) {
    findings.push_back(not_checked("throttling", "no step ran on the GPUs"));
    return findings;
  }
  if (load.record->gpus.empty()) {
    findings.push_back(
        not_checked("throttling", "the driver's management library (NVML) is not there"));
    return findings;
  }
  judge_duplicates(load.record->gpus, findings);
  judge_company(load.record->gpus, findings);
  judge_clocks(load.record->gpus, findings);
  return findings;
}

}  // namespace tandem::doctor
