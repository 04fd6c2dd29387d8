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

}  // namespace

std::string help_of(Name name) {
  const std::string owners = owners_of(*name);
  // The values of a choice are examples of themselves.
  const Form form = name->value.form;
  const bool is_choice = form == Form::kSwitch || form == Form::kChoice;
  const std::string example = is_choice ? "" : fmt::format(" (such as {})", name->example);
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

}  // namespace tandem::options
