// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/launch_record.h"

namespace tandem::reports {

// The option of a cell that another program measured: "torch-2.15.0" is PyTorch's own strategy with
// the cell's name. Cells without this option are Tandem's.
inline constexpr const char* kImplementation = "implementation";

// The cell's implementation; empty for Tandem.
[[nodiscard]] std::string implementation_of(const results::Cell& cell);

// The same cell with Tandem's implementation.
[[nodiscard]] results::Cell own_cell(const results::Cell& cell);

}  // namespace tandem::reports
