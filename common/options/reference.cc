// SPDX-License-Identifier: Apache-2.0
#include "common/options/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "common/base/text.h"
#include "common/options/rules.h"

namespace tandem::options {
namespace {

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kHost:
      return "host";
    case Scope::kCuda:
      return "cuda";
    case Scope::kAnyBackend:
      break;
  }
  return "";
}

// The strategies, the back end and the runs that have the option; "" where all have.
std::string owners_of(const Option& option) {
  std::vector<std::string> owners;
  if (!option.of.strategies.empty()) owners.push_back(in_words(option.of.strategies, ", "));
  if (const auto backend = name_of(option.scope); !backend.empty()) owners.emplace_back(backend);
  if (!option.runs.empty())
    owners.push_back(fmt::format("{}", fmt::join(split(option.runs, '|'), ", ")));
  return fmt::format("{}", fmt::join(owners, "; "));
}

// A text within a cell of a table, where a bar would end the cell.
std::string in_cell(std::string_view text) {
  std::string cell;
  for (const char letter : text) {
    if (letter == '|') cell += '\\';
    cell += letter;
  }
  return cell;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", in_cell(text));
}

std::string uses_of(const Option& option) {
  std::vector<std::string_view> uses;
  if (option.is(kNamed)) uses.push_back("name");
  if (option.is(kVaried)) uses.push_back("sweep");
  if (option.is(kPaired)) uses.push_back("ab");
  return fmt::format("{}", fmt::join(uses, ", "));
}

std::string row(const Option& option) {
  const Value& value = option.value;
  const std::string_view usual = value.usual.empty() ? value.implied : value.usual;
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", Name(option).flag(),
                     code(value.takes), code(usual), code(option.example), owners_of(option),
                     uses_of(option), in_cell(option.help));
}

}  // namespace

std::string help_of(Name name) {
  const std::string owners = owners_of(*name);
  const std::string example =
      name->value.form == Form::kSwitch ? "" : fmt::format(" (such as {})", name->example);
  return fmt::format("{}{}{}{}", owners, owners.empty() ? "" : ": ", name->help, example);
}

std::vector<std::pair<std::string, std::string>> help_lines(std::size_t group) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Option& option : kOptions) {
    if (static_cast<std::size_t>(option.of.group) != group) continue;
    const std::string takes(option.value.form == Form::kSwitch ? "" : option.value.takes);
    const std::string_view usual = option.value.usual;
    lines.emplace_back(
        fmt::format("{}{}{}", Name(option).flag(), takes.empty() ? "" : " ", takes),
        help_of(option) + (usual.empty() ? "" : fmt::format("; default: {}", usual)));
  }
  return lines;
}

std::string reference() {
  std::string text;
  for (std::size_t group = 0; group < kGroupNames.size(); ++group) {
    text += fmt::format(
        "\n### {}\n\n| option | takes | default | such as | for | in | what it does |\n"
        "|---|---|---|---|---|---|---|\n",
        kGroupNames[group]);
    for (const Option& option : kOptions) {
      if (static_cast<std::size_t>(option.of.group) == group) text += row(option);
    }
  }
  return text;
}

}  // namespace tandem::options
