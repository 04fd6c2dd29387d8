// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::cli {

// Options of step_bench that a sweep may set, by name and without dashes.
[[nodiscard]] std::span<const std::string_view> sweep_options();

// Whether the strategy has the option: an axis leaves the others as they are. The strategies that
// step_bench names where it refuses one.
[[nodiscard]] bool has_option(std::string_view strategy, std::string_view option);

// "ddp and dp-allreduce", of an option that not every strategy has; else "every strategy".
[[nodiscard]] std::string owners_of(std::string_view option);

}  // namespace tandem::cli
