// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::cli {

// As they come from the command line.
struct SiteOptions {
  std::string launcher = "mpirun";
  std::string hosts;     // "node1:2,node2:2"
  std::string hostfile;  // of Open MPI
};

// Where launches run, and who starts them there.
struct LaunchSite {
  enum class Launcher { kMpirun, kSrun };

  Launcher launcher = Launcher::kMpirun;
  std::string hosts;               // as mpirun's --host takes them; empty: this machine
  std::filesystem::path hostfile;  // absolute; empty: none
  std::string mpi_plugin;          // of srun: how ranks find each other
  std::vector<int> slots;          // processes that each node takes, in order; empty: not known

  // Cells of threads, too, need the launcher there: else they would be measured elsewhere.
  [[nodiscard]] bool is_elsewhere() const {
    return launcher == Launcher::kSrun || !hosts.empty() || !hostfile.empty();
  }
};

// Throws a usage error where the launcher is unknown, hosts cannot be read, or srun cannot start
// ranks from here. Asks srun which ways of starting MPI it knows.
[[nodiscard]] LaunchSite checked_site(const SiteOptions& options);

// What a definition says of it, so that launches of different sites never share a journal; "" for
// mpirun on this machine.
[[nodiscard]] std::string text_of(const LaunchSite& site);

// Slots by node of "node1:2,node2:2"; a usage error where it is not of that form.
[[nodiscard]] std::vector<int> slots_of_hosts(const std::string& hosts);

// The same of a host file; empty where a line leaves the number to mpirun. `source` is for errors.
[[nodiscard]] std::vector<int> slots_of_hostfile(const std::string& text,
                                                 const std::string& source);

// The same of Slurm's "2(x3),1": SLURM_JOB_CPUS_PER_NODE. Empty where it is not of that form.
[[nodiscard]] std::vector<int> slots_of_slurm(const std::string& cpus_per_node);

// pmix where `list`, the answer of srun --mpi=list, has it, else pmi2; a usage error without both.
[[nodiscard]] std::string mpi_plugin_in(const std::string& list);

// The words before the program that start a cell there; none for threads on this machine.
[[nodiscard]] std::vector<std::string> launcher_words(const LaunchSite& site,
                                                      const results::Cell& cell,
                                                      bool oversubscribe);

// How many devices may run there.
struct DeviceLimit {
  LaunchSite site{};
  int cores = 0;  // of this machine, where it is the site; 0: no rule
  bool oversubscribe = false;
};

// What is said of a cell that has more; nothing where it fits, or where only the launch itself can
// tell.
[[nodiscard]] std::optional<std::string> why_too_large(const DeviceLimit& limit,
                                                       const results::Cell& cell);

}  // namespace tandem::cli
