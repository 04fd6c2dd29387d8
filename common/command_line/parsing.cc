// SPDX-License-Identifier: Apache-2.0
#include "common/command_line/parsing.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/units.h"

namespace tandem::command_line {
namespace {

// The command that the words name, or as much of it as there is.
const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

const CLI::Option* option_named(const CLI::App& command, std::string_view name) {
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_positional() ? option->get_name(true) == name : option->get_name() == name) {
      return option;
    }
  }
  return nullptr;
}

// The name that a message of CLI11's begins with.
std::string_view subject_of(std::string_view message) {
  return message.substr(0, message.find_first_of(": "));
}

std::string wrong_number_of_values(const CLI::App& command, std::string_view message) {
  const std::string_view name = subject_of(message);
  const CLI::Option* const option = option_named(command, name);
  if (option != nullptr && option->count() > 1) {
    return fmt::format("{} is given {} times: give it once", name, option->count());
  }
  return fmt::format("{} needs a value{}", name,
                     option == nullptr ? "" : ": " + option->get_description());
}

std::string missing_option(const CLI::App& command, std::string_view message) {
  const std::string_view name = subject_of(message);
  const CLI::Option* const option = option_named(command, name);
  if (option == nullptr) return std::string(message);
  return fmt::format("{} is missing: {}", name, option->get_description());
}

// "Could not convert: --devices = two": of all options that CLI11 converts, the values are whole
// numbers.
std::string no_number(std::string_view message) {
  constexpr std::string_view kBegin = "Could not convert: ";
  constexpr std::string_view kBetween = " = ";
  const std::size_t between = message.find(kBetween);
  if (!message.starts_with(kBegin) || between == std::string_view::npos) {
    return std::string(message);
  }
  return fmt::format("{} is '{}': give a whole number",
                     message.substr(kBegin.size(), between - kBegin.size()),
                     message.substr(between + kBetween.size()));
}

std::string exclusive(std::string_view message) {
  constexpr std::string_view kExcludes = " excludes ";
  const std::size_t at = message.find(kExcludes);
  if (at == std::string_view::npos) return std::string(message);
  return fmt::format("{} and {} exclude each other: give one", message.substr(0, at),
                     message.substr(at + kExcludes.size()));
}

std::string in_words(const CLI::App& command, const CLI::ParseError& error) {
  const std::string_view message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error)) return missing_option(command, message);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    return wrong_number_of_values(command, message);
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return no_number(message);
  if (dynamic_cast<const CLI::ExcludesError*>(&error)) return exclusive(message);
  return std::string(message);
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional() && !option->get_group().empty()) {
      names.push_back(option->get_name());
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const below : command.get_subcommands({})) {
    names.push_back(below->get_name());
  }
  return names;
}

// The first word of the command that looks like an option and is none of its own; "" for none.
std::string unknown_option(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word.starts_with("--")) return word;
  }
  return "";
}

// CLI11 takes the next word for the value of "--devices=".
void check_values(const CLI::App& app, std::span<const char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") return;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    fail(ErrorKind::kUsage, "{} needs a value after the '='; see {} --help",
         word.substr(0, word.size() - 1), app.get_name());
  }
}

// By stdio, whose errors the programs' ends look for.
void print(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stdout)); }

}  // namespace

bool parse(CLI::App& app, int count, const char* const* words) {
  check_values(app, {words, static_cast<std::size_t>(count)});
  try {
    app.parse(count, words);
    return true;
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    // A misspelt option may be the one that is missing.
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (is_missing && !unknown_option(command).empty()) refuse(command, unknown_option(command));
    fail(ErrorKind::kUsage, "{}; see {} --help", in_words(command, error), full_name(command));
  }
  return false;
}

void refuse(const CLI::App& command, const std::string& word,
            const std::vector<std::string>& others) {
  constexpr std::size_t kLongestShown = 60;
  const std::string given = word.substr(0, word.find('='));
  const bool is_option = given.starts_with('-');
  std::vector<std::string> names = is_option ? option_names(command) : command_names(command);
  const std::string_view kind = is_option ? "option" : names.empty() ? "argument" : "command";
  if (is_option) names.insert(names.end(), others.begin(), others.end());
  const std::vector<std::string_view> known(names.begin(), names.end());
  fail(ErrorKind::kUsage, "{} '{}' is none of {}'s{}; see {} --help", kind,
       given.substr(0, kLongestShown), full_name(command), did_you_mean(given, known),
       full_name(command));
}

std::string full_name(const CLI::App& command) {
  const CLI::App* const above = command.get_parent();
  return above == nullptr ? command.get_name() : full_name(*above) + " " + command.get_name();
}

CLI::Validator whole_number(int least, int most) {
  const auto complaint = [least, most](const std::string& text) -> std::string {
    const auto number = parse_number<int>(text);
    if (number && *number >= least && *number <= most) return "";
    return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  };
  return {[complaint](std::string& text) { return complaint(text); }, ""};
}

}  // namespace tandem::command_line
