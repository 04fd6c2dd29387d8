// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tandem::command_line {

// Adds an option to `command`, as help shows it: "--out FOLDER" has a value of type FOLDER, which
// goes to `value`.
template <class Value>
CLI::Option* add(CLI::App& command, const std::string& shown, Value& value,
                 const std::string& what) {
  const std::size_t blank = shown.find(' ');
  return command.add_option(shown.substr(0, blank), value, what)
      ->type_name(shown.substr(blank + 1));
}

// The same with a default, which is what `value` holds.
template <class Value>
CLI::Option* add_usual(CLI::App& command, const std::string& shown, Value& value,
                       const std::string& what) {
  return add(command, shown, value, what)->capture_default_str();
}

}  // namespace tandem::command_line
