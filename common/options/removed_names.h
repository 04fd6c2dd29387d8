// SPDX-License-Identifier: Apache-2.0
//
// The one table of names that were removed: verbs, subcommands, options, values of options and
// sweeps, each with the one line that says what serves the need now. Whoever refuses a name that is
// not known asks here first.
#pragma once

#include <string>
#include <string_view>

namespace tandem::options {

// The line for a word of `command` that was removed; "" for every other word. `command` is the
// words that stand before it ("tandem trace", "kernel_bench"), "sweep" for the name of a sweep, or
// "sweep key" and "workload key" for keys of such files.
// A value is asked for with its option: "--compress=powersgd:4". Thread-safe.
[[nodiscard]] std::string removal_of(std::string_view command, std::string_view word);

// Throws that line as a usage error. Returns where there is none.
void refuse_removed(std::string_view command, std::string_view word);

}  // namespace tandem::options
