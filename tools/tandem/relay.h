// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/interrupts.h"

namespace tandem::cli {

struct RelayRequest {
  std::vector<std::string> arguments;    // the first is looked up in PATH where it has no slash
  std::vector<std::string> environment;  // "NAME=value", all of it
};

// Runs a command and passes on what it writes to stdout as it comes; stderr is this process's own.
// mpirun crashes where whoever reads its output goes away, so that is met here: the command is
// ended, quietly. Returns its exit status, 1 where a signal ended it, 130 after an interrupt.
// Throws a failure where it cannot be started.
[[nodiscard]] int run_relayed(const RelayRequest& request, const Interrupts& interrupts);

}  // namespace tandem::cli
