// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

struct RelayRequest {
  std::vector<std::string> arguments;    // a program without a slash is looked up in PATH
  std::vector<std::string> environment;  // every variable, as "NAME=value"
};

// Runs a command and passes on its stdout as the command writes; the command shares this process's
// stderr. mpirun crashes where the reader of its output goes away, so this process then ends the
// command quietly. Returns the command's exit status, 1 where a signal ended the command, 130 after
// an interrupt. Throws a failure where the command cannot be started.
[[nodiscard]] int run_relayed(const RelayRequest& request, const Interrupts& interrupts);

}  // namespace tandem::cli
