// SPDX-License-Identifier: Apache-2.0
#include "common/results/machine_facts.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>

#include "common/base/system_files.h"
#include "common/results/named_variables.h"

namespace tandem::results {
namespace {

// The key of a core. All threads of a core show the same thread list, which no other core shows.
// Without that list the key is the package and the core's number, which may repeat between dies.
std::string core_of(int cpu, const std::filesystem::path& system) {
  const std::filesystem::path topology = system / fmt::format("cpu{}", cpu) / "topology";
  std::string siblings = first_line((topology / "thread_siblings_list").string());
  if (!siblings.empty()) return siblings;
  const std::string core = first_line((topology / "core_id").string());
  const std::string package = first_line((topology / "physical_package_id").string());
  return core.empty() || package.empty() ? "" : fmt::format("package {} core {}", package, core);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add(std::string& text, const std::string& before, const char* name, const std::string& after) {
  const std::string value = variable(name);
  if (!value.empty()) text.append(", ").append(before).append(value).append(after);
}

int cores_of_affinity() {
  const std::vector<int> cpus = allowed_cpus();
  return cpus.empty() ? static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) : physical_cores(cpus);
}

// The CPU's model name, or the architecture where cpuinfo has no name, as on Arm.
std::string cpu_model(const utsname& system) {
  const std::string model = text_behind("/proc/cpuinfo", "model name");
  return model.empty() ? std::string(system.machine) + " CPU" : model;
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

int physical_cores(const std::vector<int>& cpus, const std::filesystem::path& system) {
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string core = core_of(cpu, system);
    if (core.empty()) return static_cast<int>(cpus.size());
    cores.insert(core);
  }
  return static_cast<int>(cores.size());
}

int count_numa_nodes(const std::filesystem::path& root) {
  int count = 0;
  std::error_code absent;
  const std::filesystem::path folder = root / "sys/devices/system/node";
  while (std::filesystem::exists(folder / ("node" + std::to_string(count)), absent)) ++count;
  return count;
}

std::string huge_pages(const std::filesystem::path& root) {
  const std::string line = first_line(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return line.substr(open + 1, close - open - 1);
}

std::string container(const std::filesystem::path& root) {
  std::error_code absent;
  if (!variable("APPTAINER_NAME").empty() || !variable("SINGULARITY_NAME").empty()) {
    return "apptainer";
  }
  if (std::filesystem::exists(root / "run/.containerenv", absent)) return "podman";
  if (std::filesystem::exists(root / ".dockerenv", absent)) return "docker";
  return variable("container");
}

std::string slurm_job() {
  std::string text = variable("SLURM_JOB_ID");
  if (text.empty()) return text;
  add(text, "step ", "SLURM_STEP_ID", "");
  add(text, "partition ", "SLURM_JOB_PARTITION", "");
  add(text, "", "SLURM_JOB_NUM_NODES", " nodes");
  return text;
}

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
