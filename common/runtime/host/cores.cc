// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/cores.h"

#include <fmt/ranges.h>
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "common/base/error.h"
#include "common/runtime/host/topology.h"

namespace tandem::host {
namespace {

namespace fs = std::filesystem;

constexpr int kThisThread = 0;

// Binds a thread to `cpus`; false where the kernel refuses.
bool set_affinity(int thread, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(thread, sizeof set, &set) == 0;
}

[[noreturn]] void fail_to_bind(const std::vector<int>& cpus) {
  fail(ErrorKind::kFailure,
       "binding threads to CPUs {} failed ({}): give this job those CPUs, or pass --bind=none",
       fmt::join(cpus, ","), std::strerror(errno));
}

bool is_in(hwloc_const_bitmap_t set, int cpu) {
  return hwloc_bitmap_isset(set, static_cast<unsigned>(cpu)) != 0;
}

// The OS numbers of this process's threads.
std::set<int> own_threads() {
  std::set<int> threads;
  std::error_code ignored;  // without /proc only the calling thread is bound
  for (fs::directory_iterator it("/proc/self/task", ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    threads.insert(std::stoi(it->path().filename().string()));
  }
  return threads;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(kThisThread, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<Core> whole_cores(const std::vector<int>& cpus) {
  std::vector<Core> cores;
  const Topology topology = load_topology();
  hwloc_obj_t object = nullptr;
  while (topology &&
         (object = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, object)) != nullptr) {
    Core core;
    for (const int cpu : cpus) {
      if (is_in(object->cpuset, cpu)) core.push_back(cpu);
    }
    if (!core.empty()) cores.push_back(std::move(core));
  }
  if (!cores.empty()) return cores;
  for (const int cpu : cpus) cores.push_back({cpu});  // the machine does not tell its cores
  return cores;
}

std::vector<int> allowed_cores() {
  std::vector<int> first;
  for (const Core& core : whole_cores(allowed_cpus())) first.push_back(core.front());
  return first;
}

std::vector<int> numa_nodes_of(const std::vector<int>& cpus) {
  std::vector<int> nodes;
  const Topology topology = load_topology();
  hwloc_obj_t node = nullptr;
  while (topology &&
         (node = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const bool has_one =
        std::any_of(cpus.begin(), cpus.end(), [node](int cpu) { return is_in(node->cpuset, cpu); });
    if (has_one) nodes.push_back(static_cast<int>(node->os_index));
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

void bind_this_thread(int core) {
  if (set_affinity(kThisThread, {core})) return;
  fail(ErrorKind::kFailure,
       "binding a thread to core {} failed ({}): give this job that core, or fewer devices", core,
       std::strerror(errno));
}

void bind_this_thread(const std::vector<int>& cpus) {
  if (!set_affinity(kThisThread, cpus)) fail_to_bind(cpus);
}

void bind_this_process(const std::vector<int>& cpus) {
  bind_this_thread(cpus);
  // Repeats until no thread is new: a thread that was not bound yet may have started another one.
  for (std::set<int> bound, all = own_threads(); bound != all; all = own_threads()) {
    for (const int thread : all) {
      // ESRCH: the thread has ended.
      if (!set_affinity(thread, cpus) && errno != ESRCH) fail_to_bind(cpus);
    }
    bound = all;
  }
}

ScopedBinding::ScopedBinding(int core) : before_(allowed_cpus()) { bind_this_thread(core); }

ScopedBinding::~ScopedBinding() { set_affinity(kThisThread, before_); }

}  // namespace tandem::host
