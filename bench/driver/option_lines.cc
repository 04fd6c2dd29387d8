// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/option_lines.h"

#include <CLI/CLI.hpp>

#include "common/options/reference.h"
#include "common/options/rules.h"

namespace tandem::bench {
namespace {

std::vector<options::Name> all_names() {
  return {options::kOptions.begin(), options::kOptions.end()};
}

}  // namespace

OptionLines::OptionLines(CLI::App& app) : OptionLines(app, all_names()) {}

OptionLines::OptionLines(CLI::App& app, const std::vector<options::Name>& names) {
  for (const options::Name name : names) lines_.push_back({.name = name});
  for (Line& line : lines_) declare(app, line);
}

void OptionLines::declare(CLI::App& app, Line& line) {
  const options::Option& option = *line.name;
  const std::string help = options::help_of(option);
  const std::string bare(option.value.bare);
  line.option = bare.empty() ? app.add_option(line.name.flag(), line.text, help)
                             : app.add_flag(line.name.flag() + "{" + bare + "}", line.text, help);
  line.option->group(std::string(options::kGroupNames[static_cast<std::size_t>(option.of.group)]));
  if (!bare.empty()) return;
  line.option->type_name(std::string(option.value.takes));
  if (!option.value.usual.empty()) line.option->default_str(std::string(option.value.usual));
}

options::Values OptionLines::values() const {
  options::Values values;
  for (const Line& line : lines_) {
    if (line.option->count() > 0) values.give(line.name, line.text);
  }
  options::check_forms(values);
  return values;
}

}  // namespace tandem::bench
