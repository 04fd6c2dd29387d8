// SPDX-License-Identifier: Apache-2.0
//
// The command lines of a step that are refused, whatever the machine. Each refusal is a usage error
// of one line.
#pragma once

#include <cstdint>

#include "common/options/values.h"

namespace tandem::options {

// Throws unless the values hold, alone and together: their forms, the batch, devices and launch,
// and options of other strategies or of no effect. Values with Mark::kAsked are their owners' to
// judge.
void check(const Values& values);

// The first of these, alone.
void check_forms(const Values& values);

// Samples per step over all devices. Throws for none or too many.
[[nodiscard]] std::int64_t global_batch(const Values& values);

[[nodiscard]] Launch launch(const Values& values);

// The other side of the pair that --ab, "option=value", asks for. Throws for an option that cannot
// change within a process, for a value that is no change, and for two sides that no process holds.
[[nodiscard]] Values with_change(const Values& values);

// Whether the strategy has the option; a strategy that is unknown has every option.
[[nodiscard]] bool has_option(std::string_view strategy, Name name);
// Whether a sweep varies the option in the strategy.
[[nodiscard]] bool is_varied_in(std::string_view strategy, Name name);

// The strategies in words: "ddp and dp-allreduce", or "every strategy".
[[nodiscard]] std::string in_words(Kinds kinds, std::string_view between = " and ");
[[nodiscard]] std::string varied_in_words(Name name);

}  // namespace tandem::options
