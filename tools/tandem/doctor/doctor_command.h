// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

struct DoctorOptions {
  bool json = false;
  std::string programs{};  // folder of the bench programs, for tests; empty: that of tandem
  std::string root = "/";  // what facts are read below, for tests
};

// `tandem doctor`: looks at this node, runs the bench programs where that is how to know, and
// prints what it found. Returns 1 where there is a problem, 130 after an interrupt, else 0. Throws
// a usage error under mpirun, and where the programs are not there.
[[nodiscard]] int run_doctor(const DoctorOptions& options);

}  // namespace tandem::cli
