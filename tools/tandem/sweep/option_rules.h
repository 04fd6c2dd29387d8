// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::cli {

// The options of step_bench that a sweep may set, by name and without dashes.
[[nodiscard]] std::span<const std::string_view> sweep_options();

// Whether the strategy has the option, by the strategies that step_bench names in its refusal. An
// axis leaves strategies without the option as they are.
[[nodiscard]] bool has_option(std::string_view strategy, std::string_view option);

// The strategies that have the option: "ddp and dp-allreduce", or "every strategy".
[[nodiscard]] std::string owners_of(std::string_view option);

}  // namespace tandem::cli
