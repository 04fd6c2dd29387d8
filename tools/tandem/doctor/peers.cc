// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/peers.h"

#include <fmt/format.h>

#include "common/results/files.h"
#include "common/stats/summary.h"
#include "tools/tandem/launch/launch_site.h"

namespace tandem::doctor {

namespace {

using cli::kLatencyBytes;

constexpr double kSlow = 0.5;  // share of the median of the copies' kind

bool is_gpu(const std::string& endpoint) { return endpoint.starts_with("cuda:"); }

std::vector<CopySpeed> chosen(const std::vector<CopySpeed>& all, bool from_gpu, bool to_gpu) {
  std::vector<CopySpeed> found;
  for (const CopySpeed& speed : all) {
    if (speed.bytes == kLatencyBytes || speed.from == speed.to || speed.from == "pageable" ||
        speed.to == "pageable")
      continue;
    if (is_gpu(speed.from) == from_gpu && is_gpu(speed.to) == to_gpu) found.push_back(speed);
  }
  return found;
}

void judge_kind(const std::vector<CopySpeed>& speeds, const std::string& kind,
                const std::string& advice, Findings& findings) {
  const std::string subject = "bandwidth";
  if (speeds.empty()) return;
  std::vector<double> values;
  for (const CopySpeed& speed : speeds) values.push_back(speed.gigabytes_per_second);
  const double median = stats::median(values);
  const std::size_t before = findings.size();
  for (const CopySpeed& speed : speeds) {
    if (speed.gigabytes_per_second >= kSlow * median) continue;
    findings.push_back(
        warning(subject,
                fmt::format("{} to {}: {:.1f} GB/s, where the median of copies {} is {:.1f} GB/s",
                            speed.from, speed.to, speed.gigabytes_per_second, kind, median),
                advice));
  }
  if (findings.size() > before) return;
  findings.push_back(
      ok(subject, fmt::format("copies {}: {:.1f} to {:.1f} GB/s, median {:.1f}", kind,
                              stats::minimum(values), stats::maximum(values), median)));
}

void judge_latency(const std::vector<CopySpeed>& copies, Findings& findings) {
  std::vector<double> times;
  for (const CopySpeed& copy : copies) {
    const bool is_between = is_gpu(copy.from) && is_gpu(copy.to) && copy.from != copy.to;
    if (copy.bytes == kLatencyBytes && is_between) times.push_back(copy.median_us);
  }
  if (times.empty()) return;
  findings.push_back(ok("latency", fmt::format("copies of {} B between GPUs: {:.1f} to {:.1f} us, "
                                               "median {:.1f}",
                                               kLatencyBytes, stats::minimum(times),
                                               stats::maximum(times), stats::median(times))));
}

void judge_access(const std::vector<results::GpuRecord>& gpus, Findings& findings) {
  const std::string subject = "peer access";
  const std::size_t before = findings.size();
  int told = 0;
  for (const results::GpuRecord& gpu : gpus) {
    for (const results::GpuPeer& peer : gpu.peers) {
      if (peer.device <= gpu.device || !peer.peer_access) continue;
      ++told;
      if (*peer.peer_access) continue;
      findings.push_back(warning(
          subject,
          fmt::format("none between devices {} and {} (their paths meet at: {}): copies and "
                      "collectives go through the host",
                      gpu.device, peer.device, peer.path.empty() ? "not told" : peer.path),
          "see nvidia-smi topo -p2p r; some cards have none, else look at the BIOS' IOMMU "
          "and ACS settings and at the virtual machine's passthrough"));
    }
  }
  if (findings.size() > before) return;
  findings.push_back(told > 0 ? ok(subject, fmt::format("between all {} pairs", told))
                              : not_checked(subject, "the driver does not tell"));
}

}  // namespace

CopyRun run_copies(const Programs& programs, int devices) {
  const std::filesystem::path out = programs.file("copies.json");
  CopyRun copies{.run = programs.run("copy_bench", cli::copy_words({.backend = "cuda",
                                                                    .devices = devices,
                                                                    .bytes = 64 << 20,
                                                                    .samples = 5,
                                                                    .out = out})),
                 .speeds = {}};
  if (!copies.run.is_done()) return copies;
  copies.speeds = cli::parse_copies(results::read_file(out));
  return copies;
}

Findings judge_peers(const std::vector<results::GpuRecord>& gpus, const CopyRun& copies) {
  Findings findings;
  if (gpus.size() > 1) judge_access(gpus, findings);
  if (!copies.run.is_done()) {
    findings.push_back(judge_run(copies.run, "bandwidth", "",
                                 "do what it says; where copies between GPUs arrive wrong, look at "
                                 "the BIOS' IOMMU and ACS settings, and use --p2p=off meanwhile"));
    return findings;
  }
  judge_kind(chosen(copies.speeds, true, true), "between GPUs",
             "see nvidia-smi topo -m: this pair goes another way than the others, or its links are "
             "down (nvidia-smi nvlink -s)",
             findings);
  judge_kind(chosen(copies.speeds, false, true), "to GPUs",
             "see nvidia-smi -q: the PCIe link may have fewer lanes or an older generation",
             findings);
  judge_kind(chosen(copies.speeds, true, false), "from GPUs",
             "see nvidia-smi -q: the PCIe link may have fewer lanes or an older generation",
             findings);
  judge_latency(copies.speeds, findings);
  return findings;
}

NcclRuns run_nccl(const Programs& programs, int devices) {
  NcclRuns runs{.devices = devices, .threads = {}, .processes = {}};
  if (devices < 2) return runs;
  std::vector<std::string> arguments{"--backend=cuda", fmt::format("--devices={}", devices),
                                     "--comm=nccl",    "--sizes=16MiB",
                                     "--samples=5",    "--comm-timeout=60s"};
  runs.processes = programs.run("collective_bench", arguments, cli::mpirun_here(devices));
  arguments.emplace_back("--launch=threads");
  runs.threads = programs.run("collective_bench", arguments);
  return runs;
}

Findings judge_nccl(const NcclRuns& runs) {
  if (runs.devices < 2) {
    return {not_checked("nccl", "it is for two GPUs or more")};
  }
  const std::string advice =
      "NCCL_DEBUG=WARN says which call of the system's failed; look at /dev/shm, memlock and peer "
      "access above";
  return {
      judge_launch(runs.processes, "nccl",
                   fmt::format("{} processes reduced over NCCL", runs.devices)),
      judge_run(runs.threads, "nccl",
                fmt::format("{} threads of a process reduced over NCCL", runs.devices), advice)};
}

}  // namespace tandem::doctor
