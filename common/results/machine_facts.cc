// SPDX-License-Identifier: Apache-2.0
#include "common/results/machine_facts.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <vector>

#include "common/results/build_facts.h"
#include "common/results/job_place.h"
#include "common/results/named_variables.h"
#include "common/results/physical_cores.h"
#include "common/results/system_files.h"

namespace tandem::results {
namespace {

int cores_of_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    // The machine has more CPUs than a cpu_set_t holds.
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  }
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return physical_cores(cpus);
}

// The CPU's model name, or the architecture where cpuinfo has no name, as on Arm.
std::string cpu_model(const utsname& system) {
  const std::string model = cpuinfo_value("model name");
  return model.empty() ? std::string(system.machine) + " CPU" : model;
}

}  // namespace

MachineFacts gather_machine_facts() {
  utsname system{};
  ::uname(&system);
  MachineFacts facts;
  facts.host_name = system.nodename;
  facts.cpu_model = cpu_model(system);
  facts.cores = cores_of_affinity();
  facts.page_bytes = ::sysconf(_SC_PAGESIZE);
  facts.memory_bytes = ::sysconf(_SC_PHYS_PAGES) * facts.page_bytes;
  facts.kernel = std::string(system.sysname) + " " + system.release;
  facts.libraries = {{"compiler", built_by()}, {"tandem", built_from()}};
  facts.variables = named_variables(environ);
  facts.numa_nodes = count_numa_nodes();
  facts.huge_pages = huge_pages();
  facts.container = container();
  facts.slurm_job = slurm_job();
  return facts;
}

}  // namespace tandem::results
