// SPDX-License-Identifier: Apache-2.0
#include "bench/job/job.h"

#include <fmt/ranges.h>

#include "bench/driver/google_benchmark.h"
#include "bench/job/node_share.h"
#include "bench/job/simulated_job.h"
#include "common/base/error.h"
#include "common/base/system_files.h"
#include "common/comm/nccl_module.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/nvml/nvml.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

void check_world(const Bootstrap& bootstrap, const JobOptions& options) {
  if (options.launch == Launch::kThreads || bootstrap.size() == options.devices) return;
  fail(ErrorKind::kUsage,
       "--devices={} as processes needs a rank for each, but {} rank{} started: run it under "
       "mpirun -np {} --bind-to none",
       options.devices, bootstrap.size(), bootstrap.size() == 1 ? " was" : "s were",
       options.devices);
}

PlatformOptions platform_options(const JobOptions& options, const NodeShare& share) {
  PlatformOptions platform = options.platform;
  platform.devices = share.devices;
  platform.device_memory = share.asked_memory;
  if (options.launch == Launch::kProcesses) platform.own_device = share.device;
  platform.cores = share.cores;
  return platform;
}

// Settles the options that only one of the back ends has.
void settle_for(const BackendDecision& decision, Bootstrap& bootstrap, const NodeLayout& nodes,
                const JobOptions& options, const NodeShare& share, PlatformOptions& platform) {
  const bool is_cuda = decision.backend == Backend::kCuda;
  if (!is_cuda && platform.device_memory.empty()) platform.device_memory = {share.even_memory};
  if (is_cuda && platform.peer_access == PeerAccess::kOff) forbid_peer_access_to_nccl();
  if (options.launch == Launch::kThreads) return;
  platform.processes_on_gpu =
      processes_on_gpu(bootstrap, nodes, decision.gpus.empty() ? "" : decision.gpus.front(),
                       platform.oversubscribe ? Sharing::kAllowed : Sharing::kRefused);
}

// The GPU that each device of this process lies on: with fewer GPUs than devices, devices take the
// GPUs in turn.
std::vector<std::string> gpus_of_devices(const BackendDecision& decision,
                                         const PlatformOptions& platform) {
  const int devices = platform.own_device ? 1 : platform.devices;
  std::vector<std::string> gpus;
  for (int i = 0; i < devices; ++i) {
    gpus.push_back(decision.gpus[static_cast<std::size_t>(i) % decision.gpus.size()]);
  }
  return gpus;
}

// Settles where GPUs' threads run, and returns warnings for the reader, the same on all ranks.
// Collective.
std::vector<std::string> settle_binding(const BackendDecision& decision, Bootstrap& bootstrap,
                                        const NodeLayout& nodes, PlatformOptions& platform) {
  if (decision.backend != Backend::kCuda || platform.binding == Binding::kNone) return {};
  FoundHosts found = find_near_hosts(bootstrap, nodes, gpus_of_devices(decision, platform),
                                     [] { return nvml::Nvml::open(); });
  platform.near_hosts = std::move(found.hosts);
  if (found.warning.empty()) return {};
  return {std::move(found.warning)};
}

std::string nccl_of(const Job& job, const JobOptions& options) {
  const bool is_cuda = job.platform->backend() == Backend::kCuda;
  if (!is_cuda || (options.devices == 1 && job.transport.transport != Transport::kNccl)) return "";
  const NcclProbe probe = probe_nccl();
  return probe.usable ? describe_nccl(probe) : "not usable: " + probe.trouble;
}

// Nodes may differ: all nodes must have come to one back end, and oversubscription on one node
// marks the whole job.
void compare_platforms(Bootstrap& bootstrap, Job& job) {
  const std::string mine = to_string(job.platform->backend());
  const std::vector<std::string> all = bootstrap.all_gather(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    fail(ErrorKind::kUsage,
         "rank 0 on {} takes the back end {}, and rank {} on {} takes {}: name one for all with "
         "--backend",
         job.nodes.hosts.front(), all.front(), rank,
         job.nodes.hosts[static_cast<std::size_t>(job.nodes.node_of(static_cast<int>(rank)))],
         all[rank]);
  }
  for (const std::string& mark :
       bootstrap.all_gather(job.platform->oversubscribed() ? "shared" : "own")) {
    job.oversubscribed = job.oversubscribed || mark == "shared";
  }
}

}  // namespace

void check_launch(Launch launch) {
  if (launch == Launch::kProcesses || announced_ranks() == 1) return;
  fail(ErrorKind::kUsage,
       "threads are one process, but the launcher started {} ranks: run it without mpirun",
       announced_ranks());
}

void add_context(const Job& job) {
  GoogleBenchmark::add_context("tandem_build_type", TANDEM_BUILD_TYPE);
  GoogleBenchmark::add_context("tandem_backend", to_string(job.platform->backend()));
  GoogleBenchmark::add_context("tandem_oversubscribed", job.oversubscribed ? "yes" : "no");
  GoogleBenchmark::add_context("tandem_cpus", fmt::format("{}", fmt::join(allowed_cpus(), ",")));
  if (job.nodes.nodes() == 1) return;
  GoogleBenchmark::add_context("tandem_nodes", fmt::format("{}", fmt::join(job.nodes.hosts, ",")));
}

std::string notices_of(const Job& job) {
  std::string lines = job.backend_notice + "\n";
  if (!job.transport.why.empty()) lines += "transport " + job.transport.why + "\n";
  if (!job.nccl.empty()) lines += "nccl " + job.nccl + "\n";
  for (const std::string& warning : job.warnings) lines += "warning: " + warning + "\n";
  return lines;
}

bool first_two_share_a_node(const Job& job) {
  return job.cores.size() > 1 &&
         (job.nodes.nodes() == 1 || job.nodes.node_of(0) == job.nodes.node_of(1));
}

Job open_job(Bootstrap& bootstrap, const JobOptions& options) {
  if (options.backend == BackendChoice::kSimulated) return open_simulated_job(bootstrap, options);
  Job job;
  job.launch = options.launch;
  job.rank_exit = options.communicator.rank_exit;
  job.nodes = find_nodes(bootstrap);
  const NodeShare share = share_of_node(bootstrap, job.nodes, options);
  PlatformOptions platform = platform_options(options, share);
  BackendDecision decision;
  attempt_together(bootstrap, [&] {
    check_world(bootstrap, options);
    decision = choose_backend(options.backend, platform);
  });
  settle_for(decision, bootstrap, job.nodes, options, share, platform);
  job.warnings = settle_binding(decision, bootstrap, job.nodes, platform);
  attempt_together(bootstrap, [&] {
    job.backend_notice = decision.why;
    const bool is_bound = platform.own_device && !platform.near_hosts.empty();
    if (is_bound) host::bind_this_process(platform.near_hosts.front().cpus);
    job.platform = open_platform(decision.backend, platform);
    job.device = &job.platform->device(share.device);
    job.device->bind_this_thread();
  });
  compare_platforms(bootstrap, job);
  job.usable_cores = share.usable_cores;
  job.cores = share.cores_of_devices;
  job.transport = choose_transport(options.transport, bootstrap, *job.device);
  job.nccl = nccl_of(job, options);
  job.communicator = make_communicator(job.transport, bootstrap, *job.device, options.communicator);
  return job;
}

void abort(Job& job) noexcept { job.communicator->abort(); }

}  // namespace tandem::bench
