// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/comm/bootstrap.h"
#include "common/comm/exit_guard.h"

namespace tandem {

// MPI from start to end of main: made before anything that may use it, destroyed last. Without a
// launcher it is a world of one. At most one per process.
//
// Nothing here waits for a peer longer than `deadline`: an exchange is then a communication error;
// MPI's own start and end, which cannot be interrupted, end the process with a line that says so.
class MpiSession {
 public:
  struct Patience {
    Nanoseconds deadline = std::chrono::seconds(60);
    ExitGuard::LastWords last{};  // told before this process is ended
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
  // A line for when MPI's `what`, "start" or "end", is waited for in vain.
  [[nodiscard]] std::string in_vain(const char* what) const;

  const Patience patience_;
};

}  // namespace tandem
