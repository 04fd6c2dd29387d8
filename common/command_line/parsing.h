// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace tandem::command_line {

// Reads a command line. Returns false after --help and --version, whose text the call has printed.
// Words that the program or its subcommand does not know stay in remaining(). Throws a usage error,
// one line in this project's words, for a missing or wrong value.
[[nodiscard]] bool parse(CLI::App& app, int count, const char* const* words);

// Throws the usage error of a word that `command`, a program or a parsed subcommand, does not take,
// with what serves the need of a removed one, or the nearest of its options, of `others` that it
// hands on ("--model"), or of its subcommands.
[[noreturn]] void refuse(const CLI::App& command, const std::string& word,
                         const std::vector<std::string>& others = {});

// "tandem trace record": the words that start a subcommand.
[[nodiscard]] std::string full_name(const CLI::App& command);

// Holds a value to whole numbers within the limits.
[[nodiscard]] CLI::Validator whole_number(int least, int most);

}  // namespace tandem::command_line
