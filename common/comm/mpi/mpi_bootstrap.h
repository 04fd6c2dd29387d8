// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <string>

#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/rank_exit.h"

namespace tandem {

// The MPI library of this process, as the library names itself up to the first comma or line end:
// "Open MPI v4.1.4". May be called where MPI was never started.
[[nodiscard]] std::string mpi_library_version();

// MPI from the start to the end of main: created before, and destroyed after, every user of MPI.
// Without a launcher the world has one rank. At most one session per process.
//
// No call here waits for a peer longer than `deadline`. A late exchange is a communication error;
// MPI's own start and end cannot be interrupted and end the process with a line that names the
// wait. The start has half a minute at least, since starting many processes takes time however
// short the deadline is.
class MpiSession : boost::noncopyable {
 public:
  struct Patience {
    Nanoseconds deadline = std::chrono::seconds(60);
    RankExit rank_exit{};  // the last words of a process that ends itself
  };
  MpiSession(int& argc, char**& argv, Patience patience);
  MpiSession(int& argc, char**& argv) : MpiSession(argc, argv, Patience{}) {}
  ~MpiSession();

  // All ranks that the launcher started, on one node or several. Throws a usage error where several
  // ranks were started and each takes itself for the only one (a launcher of another MPI).
  [[nodiscard]] std::unique_ptr<Bootstrap> bootstrap();

 private:
  const Patience patience_;
};

}  // namespace tandem
