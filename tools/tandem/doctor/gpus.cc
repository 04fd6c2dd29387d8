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

constexpr double kBusyPercent = 5;
constexpr double kUsedMib = 1024;
// The fields of nvidia-smi's query, in this order.
constexpr const char* kGpuQuery =
    "index,pci.bus_id,uuid,name,driver_version,compute_mode,mig.mode.current,memory.used,"
    "memory.total,utilization.gpu";
constexpr std::size_t kColumns = 10;

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

void judge_access(const std::vector<results::GpuRecord>& gpus, Findings& findings) {
  const std::string subject = "peer access";
  const std::size_t before = findings.size();
  int reported = 0;
  for (const results::GpuRecord& gpu : gpus) {
    for (const results::GpuPeer& peer : gpu.peers) {
      if (peer.device <= gpu.device || !peer.peer_access) continue;
      ++reported;
      if (*peer.peer_access) continue;
      findings.push_back(warning(
          subject,
          fmt::format("none between devices {} and {} (their paths meet at: {}): copies and "
                      "collectives go through the host",
                      gpu.device, peer.device, peer.path.empty() ? "not reported" : peer.path),
          "see nvidia-smi topo -p2p r; some cards have none, else look at the BIOS' IOMMU "
          "and ACS settings and at the virtual machine's passthrough"));
    }
  }
  if (findings.size() > before) return;
  findings.push_back(reported > 0 ? ok(subject, fmt::format("between all {} pairs", reported))
                                  : not_checked(subject, "the driver does not report it"));
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
                    .utilization = parse_number<double>(columns[9])});
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
  const std::size_t before = findings.size();
  for (const IdleGpu& gpu : gpus) judge_use(gpu, findings);
  if (findings.size() == before) findings.push_back(ok("busy GPUs", "none, before Tandem's runs"));
  for (const IdleGpu& gpu : gpus) judge_mode(gpu, findings);
  return findings;
}

GpuLoad run_gpu_load(const Programs& programs, int devices) {
  const std::filesystem::path record = programs.file("record.json");
  GpuLoad load{.run = programs.run(
                   "step_bench",
                   {"--backend=cuda", "--strategy=independent", "--launch=threads",
                    fmt::format("--devices={}", devices), "--model=mlp-base",
                    "--batch-per-device=256", "--min-time=1s", "--record=" + record.string()})};
  if (load.run.is_done()) load.record = results::read_record(record);
  return load;
}

Findings judge_gpu_load(const GpuLoad& load) {
  const bool has_gpus = load.record && !load.record->gpus.empty();
  Findings findings{judge_run(
      load.run, "cuda",
      has_gpus ? fmt::format("driver {} runs this build's CUDA", load.record->gpus.front().driver)
               : "the driver runs this build's CUDA",
      "do what it says; --backend=host measures the CPU in the meantime")};
  if (has_gpus && load.record->gpus.size() > 1) judge_access(load.record->gpus, findings);
  return findings;
}

}  // namespace tandem::doctor
