// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

struct DoctorOptions {
  bool json = false;
  std::string programs{};  // folder of the bench programs, for tests; empty: tandem's own
  std::string root = "/";  // folder in which facts are read, for tests
};

// `tandem doctor`: reads this node's facts, runs the bench programs for all other facts, and prints
// its findings. Returns kVerdictExit where there is a problem, 130 after an interrupt, else 0.
// Throws a usage error under mpirun, and where the programs are missing.
[[nodiscard]] int run_doctor(const DoctorOptions& options);

}  // namespace tandem::cli
