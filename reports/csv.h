// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/summary.h"

namespace tandem::reports {

// One tidy table: a row per cell, independent variables first, then measured ones in SI units.
// A figure that does not exist is empty, never 0; so is an interval's end that is unbounded or, as
// the low end of a mean time may be, below zero; only differences and shares have ends below zero.
// Quoted as RFC 4180 says.
[[nodiscard]] std::string to_csv(const Summary& summary);

}  // namespace tandem::reports
