// SPDX-License-Identifier: Apache-2.0
//
// The keys of a sweep file that stand for many cells: devices and axes.
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// Reads key 'devices': numbers from 1, "all", "1..all" or "doubling", or a list of these. Where the
// list holds a name, the counts are sorted in ascending order, each once.
[[nodiscard]] std::vector<int> read_devices(const JsonValue& file, int all);

// The option of that name. Throws a usage error, with the nearest known name, unless a sweep may
// set it.
const options::Option& check_option_name(const std::string& name, const JsonValue& reader);

// Reads key 'axes': {OPTION: [VALUE, ...], ...}. Every strategy is combined with all values of the
// options that the strategy has and does not set itself; null stands for the strategy without the
// option. `left_out` receives a line for each option that a strategy does not have.
[[nodiscard]] std::vector<SweepStrategy> along_axes(const JsonValue& sweep,
                                                    const std::vector<SweepStrategy>& strategies,
                                                    std::vector<std::string>& left_out);

}  // namespace tandem::cli
