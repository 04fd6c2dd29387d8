// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/summary.h"

namespace tandem::reports {

// The text as one word of a shell's command, quoted where the shell needs quotes. A document may
// come from anywhere: its texts must not become commands.
[[nodiscard]] std::string shell_word(const std::string& text);

// The command line of step_bench for one measured cell: of ddp on the most devices, else of dp,
// else of any measured cell; empty where no cell measured. Options that say how a launch is timed
// are left out. Each word is quoted where the shell needs quotes.
[[nodiscard]] std::string bench_command(const Summary& summary);

}  // namespace tandem::reports
