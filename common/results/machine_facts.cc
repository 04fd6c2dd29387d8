// SPDX-License-Identifier: Apache-2.0
#include "common/results/machine_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <set>
#include <system_error>

#include "common/base/system_files.h"
#include "common/base/this_process.h"

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

std::string now_iso8601() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  const long minutes = local.tm_gmtoff / 60;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}{}{:02}:{:02}", local, minutes < 0 ? '-' : '+',
                     std::abs(minutes) / 60, std::abs(minutes) % 60);
}

// The bytes of a size such as "512K".
long long cache_bytes(const std::string& text) {
  char* rest = nullptr;
  const long long number = std::strtoll(text.c_str(), &rest, 10);
  if (*rest == 'K') return number << 10;
  if (*rest == 'M') return number << 20;
  return number;
}

// The number of CPUs in a hexadecimal mask such as "00000000,00000003".
int cpus_in_mask(const std::string& mask) {
  int count = 0;
  for (const char digit : mask) {
    const char text[] = {digit, '\0'};
    for (long bits = std::strtol(text, nullptr, 16); bits != 0; bits &= bits - 1) ++count;
  }
  return count;
}

std::vector<Context::Cache> caches_of_cpu0() {
  std::vector<Context::Cache> caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string type = first_line(folder + "type");
    if (type.empty()) return caches;
    caches.push_back({.type = type,
                      .level = std::atoi(first_line(folder + "level").c_str()),
                      .size = cache_bytes(first_line(folder + "size")),
                      .num_sharing = cpus_in_mask(first_line(folder + "shared_cpu_map"))});
  }
}

// Whether any CPU's frequency is governed by another governor than "performance", as Google
// Benchmark defines scaling.
bool scaling_enabled(int cpus) {
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const std::string governor =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!governor.empty() && governor != "performance") return true;
  }
  return false;
}

std::vector<double> load_averages() {
  std::array<double, 3> loads{};
  const int count = std::max(0, ::getloadavg(loads.data(), 3));
  return {loads.begin(), loads.begin() + count};
}

// PRTE_MCA_ are the settings of the launcher of Open MPI 5.
constexpr std::array<std::string_view, 5> kPrefixes{"NCCL_", "OMPI_MCA_", "PRTE_MCA_", "OMP_",
                                                    "CUDA_"};
// Two variables that are removed before a launch; an entry in the record shows that the removal
// failed.
constexpr std::array<std::string_view, 2> kNames{"OPENBLAS_CORETYPE", "DNNL_MAX_CPU_ISA"};
// Variables that are no settings of the user's: mpirun sets some for its ranks, with addresses and
// a key of the session, and Tandem sets others for a launch, over the user's. The values differ
// from launch to launch, so two runs of one machine would differ by which launch came first. The
// list is the same in tools/torch/twin/record.py.
constexpr auto kOfLaunches = std::to_array<std::string_view>(
    {"OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir",
     "OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
     "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_hwloc_base_binding_policy",
     "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_rmaps_base_oversubscribe",
     "OMPI_MCA_oob_tcp_keepalive_", "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_PREFIXES",
     "OMPI_MCA_cpu_type", "OMPI_MCA_mca_base_component_path", "OMPI_MCA_num_procs",
     "PRTE_MCA_oob_tcp_keepalive_", "PRTE_MCA_rmaps_default_mapping_policy",
     "PRTE_MCA_hwloc_default_binding_policy"});
// The transport within a node, which Tandem chooses.
constexpr std::string_view kTransport = "OMPI_MCA_btl=vader,self";
constexpr std::array<std::string_view, 8> kSecretWords{
    "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE"};

template <class Prefixes>
bool starts_with_any(std::string_view name, const Prefixes& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_named(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() || starts_with_any(name, kPrefixes);
}

bool is_of_launch(std::string_view variable) {
  return variable == kTransport || starts_with_any(variable, kOfLaunches);
}

bool has_credentials(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

// Whether the value has 16 or more letters and digits in a row, as keys have, and names, paths, the
// parts of UUIDs and numbers mostly do not.
bool has_long_word(std::string_view value) {
  constexpr int kLong = 16;
  int length = 0;
  for (const char c : value) {
    length = std::isalnum(static_cast<unsigned char>(c)) != 0 ? length + 1 : 0;
    if (length == kLong) return true;
  }
  return false;
}

}  // namespace

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

Context gather_context(const std::string& executable) {
  Context context;
  context.date = now_iso8601();
  context.host_name = host_name();
  context.executable = executable;
  context.num_cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  context.mhz_per_cpu =
      static_cast<int>(std::lround(std::atof(text_behind("/proc/cpuinfo", "cpu MHz").c_str())));
  context.cpu_scaling_enabled = scaling_enabled(context.num_cpus);
  context.caches = caches_of_cpu0();
  context.load_avg = load_averages();
#ifdef NDEBUG
  context.library_build_type = "release";
#else
  context.library_build_type = "debug";
#endif
  return context;
}

bool looks_secret(std::string_view name, std::string_view value) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::ranges::any_of(
             kSecretWords,
             [&](std::string_view word) { return upper.find(word) != std::string::npos; }) ||
         has_credentials(value) || has_long_word(value);
}

std::map<std::string, std::string> named_variables(const char* const* environment) {
  std::map<std::string, std::string> found;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view value = variable.substr(equals + 1);
    if (!is_named(name) || is_of_launch(variable)) continue;
    found[std::string(name)] = looks_secret(name, value) ? "(redacted)" : std::string(value);
  }
  return found;
}

}  // namespace tandem::results
