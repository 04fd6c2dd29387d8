// SPDX-License-Identifier: Apache-2.0
//
// What a terminal has room for, and whether a line there can be written over.
#pragma once

#include "reports/render/formats.h"

namespace tandem::cli {

// The screen of stdout has the terminal's columns, 100 at most; where there is no terminal, COLUMNS
// says how many, and else 100.
[[nodiscard]] reports::Screen screen(bool has_details);

// Whether a carriage return on stderr goes back to the start of a line: at a terminal that is not
// dumb.
[[nodiscard]] bool rewrites_lines();

// The columns of stderr, by the rules of screen().
[[nodiscard]] std::size_t columns_of_progress();

}  // namespace tandem::cli
