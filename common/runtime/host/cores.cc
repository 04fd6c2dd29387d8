// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/cores.h"

#include <hwloc.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/error.h"

namespace tandem::host {
namespace {

std::vector<int> this_threads_affinity() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// False where the kernel refuses.
bool set_affinity(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

// The lowest of `cpus` in each physical core; `cpus` itself where the machine does not tell.
std::vector<int> one_per_core(const std::vector<int>& cpus) {
  const Topology topology = load_topology();
  if (!topology) return cpus;
  std::vector<int> cores;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    for (const int cpu : cpus) {
      if (hwloc_bitmap_isset(core->cpuset, static_cast<unsigned>(cpu)) == 0) continue;
      cores.push_back(cpu);
      break;
    }
  }
  return cores.empty() ? cpus : cores;
}

}  // namespace

std::vector<int> allowed_cores() { return one_per_core(this_threads_affinity()); }

void bind_this_thread(int core) {
  if (set_affinity({core})) return;
  fail(ErrorKind::kFailure,
       "binding a thread to core {} failed ({}): give this job that core, or fewer devices", core,
       std::strerror(errno));
}

ScopedBinding::ScopedBinding(int core) : before_(this_threads_affinity()) {
  bind_this_thread(core);
}

ScopedBinding::~ScopedBinding() { set_affinity(before_); }

}  // namespace tandem::host
