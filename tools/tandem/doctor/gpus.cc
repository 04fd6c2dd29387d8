// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "common/base/text.h"
#include "common/base/units.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::doctor {

namespace {

using results::GpuRecord;

constexpr double kBusyPercent = 5;
constexpr double kUsedMib = 1024;
constexpr double kHeldDown = 0.01;  // share of the watched time
constexpr double kHotCelsius = 85;  // slow-downs of datacenter cards begin a few degrees above
// The fields of nvidia-smi's query, in this order.
constexpr const char* kGpuQuery =
    "index,pci.bus_id,uuid,name,driver_version,compute_mode,mig.mode.current,memory.used,"
    "memory.total,utilization.gpu,temperature.gpu";
constexpr std::size_t kColumns = 11;

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  for (const std::string_view part : split(line, ',')) {
    const std::string_view column = trimmed(part);
    columns.emplace_back(column.starts_with('[') ? "" : column);
  }
  return columns;
}

std::string name_of(const IdleGpu& gpu) { return fmt::format("GPU {} ({})", gpu.index, gpu.pci); }

void judge_use(const IdleGpu& gpu, Findings& findings) {
  const std::string subject = "busy GPUs";
  const char* const advice =
      "see what computes there (nvidia-smi), end it, or name others (--gpus)";
  if (gpu.utilization.value_or(0) >= kBusyPercent) {
    findings.push_back(
        problem(subject,
                fmt::format("{} computed for {:.0f} % of the time before anything of "
                            "Tandem's ran",
                            name_of(gpu), *gpu.utilization),
                advice));
  } else if (gpu.used_mib.value_or(0) >= kUsedMib) {
    findings.push_back(warning(subject,
                               fmt::format("{}: {:.0f} of {:.0f} MiB are in use by others",
                                           name_of(gpu), *gpu.used_mib, gpu.total_mib.value_or(0)),
                               advice));
  }
}

void judge_mode(const IdleGpu& gpu, Findings& findings) {
  if (gpu.compute_mode == "Prohibited") {
    findings.push_back(problem(
        "compute mode", name_of(gpu) + " is in prohibited mode: no process may compute on it",
        fmt::format("as root: nvidia-smi -i {} -c 0", gpu.pci)));
  }
  if (gpu.mig == "Enabled") {
    findings.push_back(warning("MIG",
                               name_of(gpu) +
                                   " is divided into instances: between them there is no "
                                   "peer access, and NCCL takes one per process",
                               fmt::format("as root: nvidia-smi -i {} -mig 0", gpu.pci)));
  }
  if (gpu.celsius.value_or(0) >= kHotCelsius) {
    findings.push_back(
        warning("temperature",
                fmt::format("{} is at {:.0f} C before it computes", name_of(gpu), *gpu.celsius),
                "let it cool, and look at the node's fans and air"));
  }
}

Finding judge_kinds(const std::vector<IdleGpu>& gpus) {
  std::set<std::string> names;
  for (const IdleGpu& gpu : gpus) names.insert(gpu.name);
  const std::string text =
      fmt::format("{} x {}, driver {}", gpus.size(), *names.begin(), gpus.front().driver);
  if (names.size() == 1) return ok("gpus", text);
  return warning(
      "gpus",
      fmt::format("{} GPUs of {} kinds: {}", gpus.size(), names.size(), fmt::join(names, ", ")),
      "name those of one kind (--gpus): the slowest sets the pace of all");
}

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
    const auto others = gpu.processes.value_or(1) - 1;
    if (others <= 0) continue;
    findings.push_back(
        problem("busy GPUs",
                fmt::format("{}: besides Tandem's, {} there", name_of(gpu),
                            others == 1 ? "1 process computes"
                                        : fmt::format("{} processes compute", others)),
                "end them (nvidia-smi names them), or name other GPUs (--gpus)"));
  }
}

// Judges whether two of the GPUs have one identity.
template <class Gpu>
void judge_duplicates(const std::vector<Gpu>& gpus, std::string Gpu::*identity, const char* what,
                      const std::string& advice, Findings& findings) {
  std::set<std::string> seen;
  for (const Gpu& gpu : gpus) {
    if ((gpu.*identity).empty() || seen.insert(gpu.*identity).second) continue;
    findings.push_back(problem("duplicate GPUs", name_of(gpu) + what, advice));
  }
}

}  // namespace

std::vector<IdleGpu> parse_gpus(const std::string& csv) {
  std::vector<IdleGpu> gpus;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> columns = columns_of(line);
    if (columns.size() != kColumns || !parse_number<int>(columns[0])) continue;
    gpus.push_back({.index = columns[0],
                    .pci = columns[1],
                    .uuid = columns[2],
                    .name = columns[3],
                    .driver = columns[4],
                    .compute_mode = columns[5],
                    .mig = columns[6],
                    .used_mib = parse_number<double>(columns[7]),
                    .total_mib = parse_number<double>(columns[8]),
                    .utilization = parse_number<double>(columns[9]),
                    .celsius = parse_number<double>(columns[10])});
  }
  return gpus;
}

std::vector<IdleGpu> ask_gpus() {
  return parse_gpus(cli::output_of(
      fmt::format("timeout 20 nvidia-smi --query-gpu={} --format=csv,noheader,nounits 2>/dev/null",
                  kGpuQuery)));
}

std::vector<IdleGpu> visible_of(const std::vector<IdleGpu>& gpus, const Variables& variables) {
  const auto found = variables.find("CUDA_VISIBLE_DEVICES");
  if (found == variables.end()) return gpus;
  const std::vector<std::string> named = columns_of(found->second);
  std::vector<IdleGpu> visible;
  std::ranges::copy_if(gpus, std::back_inserter(visible), [&](const IdleGpu& gpu) {
    return std::ranges::any_of(named, [&](const std::string& name) {
      return name == gpu.index || (name.size() > 4 && gpu.uuid.starts_with(name));
    });
  });
  return visible;
}

Findings judge_gpus(const std::vector<IdleGpu>& gpus) {
  if (gpus.empty()) {
    return {not_checked("gpus",
                        "nvidia-smi is not in PATH, or does not answer: memory in use, "
                        "utilization and modes of GPUs are not known")};
  }
  Findings findings{judge_kinds(gpus)};
  judge_duplicates(gpus, &IdleGpu::uuid, " shows twice: two devices would share it",
                   "look at how the container passes GPUs through", findings);
  const std::size_t before = findings.size();
  for (const IdleGpu& gpu : gpus) judge_use(gpu, findings);
  if (findings.size() == before) findings.push_back(ok("busy GPUs", "none, before Tandem's runs"));
  for (const IdleGpu& gpu : gpus) judge_mode(gpu, findings);
  return findings;
}

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
  judge_duplicates(load.record->gpus, &GpuRecord::hardware, " is the GPU of another device too",
                   "look at CUDA_VISIBLE_DEVICES and at how the container passes GPUs through",
                   findings);
  judge_company(load.record->gpus, findings);
  judge_clocks(load.record->gpus, findings);
  return findings;
}

}  // namespace tandem::doctor
