// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/summary.h"

namespace tandem::reports {

// As a word of a shell's command, quoted where it has to be. A document may come from anywhere:
// what it names must not become a command.
[[nodiscard]] std::string shell_word(const std::string& text);

// The command line of step_bench for one measured cell: of ddp on the most devices, else of dp,
// else of whatever was measured; empty where nothing was. Options that say how a launch is timed
// are left out. Each word is quoted for a shell where it has to be.
[[nodiscard]] std::string bench_command(const Summary& summary);

}  // namespace tandem::reports
