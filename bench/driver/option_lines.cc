// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/option_lines.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "bench/driver/google_benchmark.h"
#include "common/base/error.h"
#include "common/command_line/adding.h"
#include "common/options/reference.h"
#include "common/options/rules.h"

namespace tandem::bench {
namespace {

std::vector<options::Name> all_names() {
  return {options::kOptions.begin(), options::kOptions.end()};
}

// The form of the option's value in a program that has `names`.
std::string_view takes_with(const std::vector<options::Name>& names, options::Name name) {
  const std::string_view all = name->value.takes;
  const std::string_view needed = name->last_choice_with;
  const auto is_needed = [&](options::Name other) { return other->name == needed; };
  if (needed.empty() || std::ranges::any_of(names, is_needed)) return all;
  return all.substr(0, all.rfind('|'));
}

void check_takes(options::Name name, std::string_view takes, const std::string& text) {
  const std::string_view all = name->value.takes;
  if (takes == all || text != all.substr(takes.size() + 1)) return;
  std::string known(takes);
  for (std::size_t bar = 0; (bar = known.find('|', bar)) != known.npos;)
    known.replace(bar, 1, ", ");
  fail(ErrorKind::kUsage, "{}: '{}' is not known: use one of {}", name.flag(), text, known);
}

}  // namespace

void declare_benchmark_flags(CLI::App& app, BenchmarkFlags& flags) {
  const std::set<std::string> formats{"console", "json"};
  command_line::add(app, "--benchmark_format console|json", flags.format,
                    "Google Benchmark's, on standard output")
      ->check(CLI::IsMember(formats).description(""))
      ->capture_default_str();
  command_line::add(app, "--benchmark_out FILE", flags.out,
                    "Google Benchmark's JSON, to this file as well");
}

OptionLines::OptionLines(CLI::App& app) : OptionLines(app, all_names()) {}

OptionLines::OptionLines(CLI::App& app, const std::vector<options::Name>& names) {
  for (const options::Name name : names) {
    lines_.push_back({.name = name, .takes = takes_with(names, name)});
  }
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
  line.option->type_name(std::string(line.takes));
  if (!option.value.usual.empty()) line.option->default_str(std::string(option.value.usual));
}

options::Values OptionLines::values() const {
  options::Values values;
  for (const Line& line : lines_) {
    if (line.option->count() == 0) continue;
    check_takes(line.name, line.takes, line.text);
    values.give(line.name, line.text);
  }
  options::check_forms(values);
  return values;
}

}  // namespace tandem::bench
