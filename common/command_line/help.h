// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tandem::command_line {

// A term, such as an option, and what the term is.
struct HelpLine {
  std::string term;
  std::string text;
};

// The lines as two columns, wrapped at the width of stdout (common/base/lines.h).
[[nodiscard]] std::string two_columns(const std::vector<HelpLine>& lines);

// Gives a program, and each subcommand that is added later, this project's form of --help, which
// does not depend on CLI11's version: a line of usage, what the program does, its options by group,
// each with what it takes and its default, then the footer. An option of an empty group is hidden.
// A flag that has a type name takes a value after '='.
void use_plain_help(CLI::App& app);

}  // namespace tandem::command_line
