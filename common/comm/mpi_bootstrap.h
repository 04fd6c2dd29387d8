// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/comm/bootstrap.h"
#include "common/comm/farewell.h"

namespace tandem {

// "Open MPI v4.1.4": the library that this process has, in its own words up to the first comma or
// line end. Also where MPI was never started.
[[nodiscard]] std::string mpi_library_version();

// MPI from start to end of main: made before anything that may use it, destroyed last. Without a
// launcher it is a world of one. At most one per process.
//
// Nothing here waits for a peer longer than `deadline`: an exchange is then a communication error;
// MPI's own start and end, which cannot be interrupted, end the process with a line that says so.
// To start many processes and to wire them up takes what it takes, however short the ranks'
// patience with each other is: the start has half a minute at least.
class MpiSession {
 public:
  struct Patience {
    Nanoseconds deadline = std::chrono::seconds(60);
    Farewell farewell{};  // of a process that is ended
  };
  MpiSession(int& argc, char**& argv, Patience patience);
  MpiSession(int& argc, char**& argv) : MpiSession(argc, argv, Patience{}) {}
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  // All ranks that the launcher started, on one node or several. Throws a usage error where they
  // are several of which each believes that it is alone (a launcher of another MPI).
  [[nodiscard]] std::unique_ptr<Bootstrap> bootstrap();

 private:
  const Patience patience_;
};

}  // namespace tandem
