// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::cli {

// The options as the command line has them.
struct SiteOptions {
  std::string launcher = "mpirun";  // or srun; the path of a relay where TANDEM_RELAY is set
  std::string hosts;                // "node1:2,node2:2"
};

// The options that the measuring commands share.
struct MeasuringOptions {
  std::string torch;         // a python with PyTorch; empty: without PyTorch
  bool has_details = false;  // print what stands behind the answer, too
  bool oversubscribe = false;
  SiteOptions site{};
  std::string launch_timeout = "10m";
  std::string comm_timeout;            // step_bench's --comm-timeout; empty: its default
  std::string step_bench;              // empty: step_bench beside this program
  std::vector<std::string> command{};  // the whole command line, without --out
};

// The nodes of launches, and the launcher that starts them there.
struct LaunchSite {
  // kProgram is called as PROGRAM RANKS COMMAND...: by it this program starts launches on ranks
  // that another launcher, such as torchrun, has started.
  enum class Launcher { kMpirun, kSrun, kProgram };

  Launcher launcher = Launcher::kMpirun;
  std::string program{};     // of kProgram
  std::string hosts{};       // a value of mpirun's --host; empty: this machine
  std::string mpi_plugin{};  // srun's way for ranks to find each other
  std::vector<int> slots{};  // processes per node, in order; empty: not known

  // A site elsewhere starts cells of threads under the launcher too; else this machine would
  // measure them.
  [[nodiscard]] bool is_elsewhere() const {
    return launcher != Launcher::kMpirun || !hosts.empty();
  }
};

// Throws a usage error where the launcher is unknown, hosts cannot be read, or srun cannot start
// ranks from this process. Asks srun which ways of starting MPI it knows.
[[nodiscard]] LaunchSite checked_site(const SiteOptions& options);

// The site's name in a definition, so that launches of different sites never share a journal; ""
// for mpirun on this machine.
[[nodiscard]] std::string text_of(const LaunchSite& site);

// mpirun's words that start ranks on this machine.
[[nodiscard]] std::vector<std::string> mpirun_here(int ranks);

// The words before the program that start a cell at the site; none for threads on this machine.
[[nodiscard]] std::vector<std::string> launcher_words(const LaunchSite& site,
                                                      const results::Cell& cell,
                                                      bool oversubscribe);

// How many devices may run at a site.
struct DeviceLimit {
  LaunchSite site{};
  int cores = 0;  // cores of this machine, where it is the site; 0: no limit
  bool oversubscribe = false;
};

// Why the cell has too many devices; nothing where the cell fits, or where only the launch can
// say.
[[nodiscard]] std::optional<std::string> why_too_large(const DeviceLimit& limit,
                                                       const results::Cell& cell);

// Cancels the remaining steps of this process in its allocation. Reports no error, since the caller
// could do nothing more.
void cancel_own_steps();

}  // namespace tandem::cli
