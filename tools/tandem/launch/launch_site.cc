// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launch_site.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string_view>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::cli {

namespace {

// The number in the text; 0 where the text is no number from 1.
int positive(std::string_view text) {
  const int number = parse_number<int>(text).value_or(0);
  return number > 0 ? number : 0;
}

bool is_host_name(std::string_view name) {
  constexpr std::string_view kOthers = "-._@";  // '@' follows a user's name
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [&](unsigned char c) {
    return std::isalnum(c) != 0 || kOthers.find(static_cast<char>(c)) != kOthers.npos;
  });
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The name of all steps of Slurm that this process starts; no other process has the same name.
// Slurm's ranks are children of Slurm's own daemons: after an srun is killed, its ranks may go on
// and keep their cores, and this program finds its own steps by their name.
std::string step_name() { return fmt::format("tandem.{}", ::getpid()); }

// The numbers, such as "7.3", of the steps with that name in squeue's lines "NUMBER NAME".
std::vector<std::string> own_steps_in(const std::string& list) {
  std::vector<std::string> steps;
  std::istringstream lines(list);
  for (std::string number, name; lines >> number >> name;) {
    if (name == step_name()) steps.push_back(number);
  }
  return steps;
}

// The slots of each node in "node1:2,node2:2".
std::vector<int> slots_of_hosts(const std::string& hosts) {
  std::vector<int> slots;
  for (const std::string_view host : split(hosts, ',')) {
    const std::size_t colon = host.find(':');
    const int count = colon == host.npos ? 1 : positive(host.substr(colon + 1));
    if (!is_host_name(host.substr(0, colon)) || count == 0) {
      fail(ErrorKind::kUsage,
           "--hosts: '{}' is no host with its slots; give a list such as node1:2,node2:2", host);
    }
    slots.push_back(count);
  }
  return slots;
}

// The slots of each node in Slurm's "2(x3),1" (SLURM_JOB_CPUS_PER_NODE); empty for any other form.
std::vector<int> slots_of_slurm(const std::string& cpus_per_node) {
  std::vector<int> slots;
  for (const std::string_view part : split(cpus_per_node, ',')) {
    const std::size_t times = part.find("(x");
    const int cpus = positive(part.substr(0, times));
    int nodes = 1;
    if (times != part.npos && part.back() == ')') {
      nodes = positive(part.substr(times + 2, part.size() - times - 3));
    }
    if (cpus == 0 || nodes == 0) return {};
    slots.insert(slots.end(), static_cast<std::size_t>(nodes), cpus);
  }
  return slots;
}

// pmix where `list`, the answer of srun --mpi=list, has pmix, else pmi2.
std::string mpi_plugin_in(const std::string& list) {
  std::istringstream words(list);
  bool has_pmi2 = false;
  for (std::string word; words >> word;) {
    if (word == "pmix") return word;
    has_pmi2 = has_pmi2 || word == "pmi2";
  }
  if (has_pmi2) return "pmi2";
  fail(ErrorKind::kUsage,
       "--launcher=srun: srun --mpi=list offers neither pmix nor pmi2, by which ranks of Open MPI "
       "find each other; use --launcher=mpirun within the allocation");
}

LaunchSite slurm_site() {
  if (variable("SLURM_JOB_ID").empty()) {
    fail(ErrorKind::kUsage,
         "--launcher=srun: this is no Slurm allocation (SLURM_JOB_ID is not set); start it within "
         "one, by sbatch or salloc");
  }
  return {.launcher = LaunchSite::Launcher::kSrun,
          .mpi_plugin = mpi_plugin_in(output_of("srun --mpi=list 2>&1")),
          .slots = slots_of_slurm(variable("SLURM_JOB_CPUS_PER_NODE"))};
}

// How many nodes the processes fill, one node after the other.
int nodes_for(const std::vector<int>& slots, int processes) {
  int nodes = 0;
  for (const int here : slots) {
    if (processes <= 0) break;
    processes -= here;
    ++nodes;
  }
  return std::max(nodes, 1);
}

std::vector<std::string> mpirun_words(const LaunchSite& site, int ranks, bool oversubscribe) {
  if (!site.is_elsewhere()) return mpirun_here(ranks);
  // Open MPI chooses the transport between nodes, or the user by OMPI_MCA_ variables.
  std::vector<std::string> words{"mpirun",   "-np", std::to_string(ranks), "--bind-to", "none",
                                 "--map-by", "slot"};
  if (!site.hosts.empty()) words.insert(words.end(), {"--host", site.hosts});
  if (oversubscribe) words.emplace_back("--oversubscribe");
  return words;
}

std::vector<std::string> srun_words(const LaunchSite& site, int ranks, int cores_each,
                                    bool oversubscribe) {
  const int nodes = nodes_for(site.slots, ranks * cores_each);
  std::vector<std::string> words{"srun",
                                 fmt::format("--ntasks={}", ranks),
                                 fmt::format("--nodes={}", ranks == 1 ? 1 : nodes),
                                 fmt::format("--cpus-per-task={}", cores_each),
                                 "--distribution=block",
                                 "--cpu-bind=none",
                                 "--kill-on-bad-exit=1",
                                 "--job-name=" + step_name(),
                                 "--mpi=" + site.mpi_plugin};
  if (oversubscribe) words.emplace_back("--overcommit");
  return words;
}

}  // namespace

std::vector<std::string> mpirun_here(int ranks) {
  // --oversubscribe lifts only mpirun's own slot count; step_bench checks the cores.
  return {"mpirun", "-np", std::to_string(ranks), "--bind-to", "none", "--oversubscribe",
          "--mca",  "btl", "vader,self"};
}

void cancel_own_steps() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return;
  const std::string list = output_of(
      fmt::format("squeue --steps --jobs='{}' --noheader --format='%i %j' 2>/dev/null", job));
  for (const std::string& step : own_steps_in(list)) {
    static_cast<void>(output_of(fmt::format("scancel '{}' 2>/dev/null", step)));
  }
}

LaunchSite checked_site(const SiteOptions& options) {
  if (options.launcher.find('/') != std::string::npos && std::getenv("TANDEM_RELAY") != nullptr) {
    return {.launcher = LaunchSite::Launcher::kProgram, .program = options.launcher};
  }
  constexpr std::array<std::string_view, 2> kLaunchers{"mpirun", "srun"};
  if (std::ranges::find(kLaunchers, options.launcher) == kLaunchers.end()) {
    fail_unknown("--launcher", options.launcher, kLaunchers);
  }
  if (options.launcher == "mpirun") {
    LaunchSite site;
    site.hosts = options.hosts;
    if (!options.hosts.empty()) site.slots = slots_of_hosts(options.hosts);
    return site;
  }
  if (!options.hosts.empty()) {
    fail(ErrorKind::kUsage,
         "--launcher=srun: Slurm's allocation says which nodes there are; leave out --hosts");
  }
  return slurm_site();
}

std::string text_of(const LaunchSite& site) {
  if (site.launcher == LaunchSite::Launcher::kSrun) {
    return "srun on " + count_text(std::ssize(site.slots), "node");
  }
  if (!site.program.empty()) {
    return "launcher " + std::filesystem::path(site.program).filename().string();
  }
  return site.hosts.empty() ? "" : "hosts " + site.hosts;
}

std::vector<std::string> launcher_words(const LaunchSite& site, const results::Cell& cell,
                                        bool oversubscribe) {
  if (cell.is_simulated()) return {};  // one process simulates all ranks
  const bool is_process_each = cell.launch == "processes";
  if (!is_process_each && !site.is_elsewhere()) return {};
  const int ranks = is_process_each ? cell.devices : 1;
  if (!site.program.empty()) return {site.program, std::to_string(ranks)};
  return site.launcher == LaunchSite::Launcher::kSrun
             ? srun_words(site, ranks, is_process_each ? 1 : cell.devices, oversubscribe)
             : mpirun_words(site, ranks, oversubscribe);
}

std::optional<std::string> why_too_large(const DeviceLimit& limit, const results::Cell& cell) {
  constexpr std::string_view kAllTheSame = "--oversubscribe measures all the same";
  if (limit.oversubscribe) return std::nullopt;
  if (!limit.site.is_elsewhere()) {
    const int cores = limit.cores;
    if (cores == 0 || cell.devices <= cores) return std::nullopt;
    return fmt::format("{} devices, but only {} to run on; {}", cell.devices,
                       count_text(cores, "core"), kAllTheSame);
  }
  const std::vector<int>& slots = limit.site.slots;
  if (slots.empty()) return std::nullopt;
  const bool is_process_each = cell.launch == "processes";
  const int here = is_process_each ? std::accumulate(slots.begin(), slots.end(), 0) : slots.front();
  if (cell.devices <= here) return std::nullopt;
  return fmt::format("{} devices, but only {} on {}; {}", cell.devices, count_text(here, "slot"),
                     is_process_each ? "all nodes" : "the first node", kAllTheSame);
}

}  // namespace tandem::cli
