// SPDX-License-Identifier: Apache-2.0
#include "common/command_line/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>

#include "common/base/lines.h"

namespace tandem::command_line {
namespace {

// The paragraphs of the text in lines of so many columns; `first` begins the first line, as many
// spaces the others. An indented paragraph is a command to be copied, and stays whole.
std::string wrapped(const std::string& text, std::size_t columns, std::string first = "") {
  std::string lines;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    const bool is_whole = paragraph.starts_with(' ') || first.size() + paragraph.size() <= columns;
    lines += is_whole ? first + paragraph + "\n" : to_lines(paragraph, columns, first);
    first.assign(first.size(), ' ');
  }
  return lines;
}

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

std::string term_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const std::string name = "--" + option.get_lnames().front();
  const std::string takes = option.get_type_name();
  if (takes.empty()) return name;
  return option.get_expected_min() == 0 ? fmt::format("{}[={}]", name, takes)
                                        : fmt::format("{} {}", name, takes);
}

std::string text_of(const CLI::Option& option) {
  const std::string usual = option.get_default_str();
  if (usual.empty() || option.get_positional()) return option.get_description();
  return fmt::format("{}; default: {}", option.get_description(), usual);
}

// The options of the group that the filter lets through, in the order of their declaration.
std::vector<HelpLine> lines_of(const CLI::App& app,
                               const std::function<bool(const CLI::Option*)>& filter) {
  std::vector<HelpLine> lines;
  for (const CLI::Option* const option : app.get_options(filter)) {
    lines.push_back({.term = term_of(*option), .text = text_of(*option)});
  }
  return lines;
}

std::vector<HelpLine> commands_of(const CLI::App& app) {
  std::vector<HelpLine> lines;
  for (const CLI::App* const command : app.get_subcommands({})) {
    const std::string text = command->get_description();
    lines.push_back({.term = command->get_name(), .text = text.substr(0, text.find('\n'))});
  }
  return lines;
}

std::string usage_of(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* up = app.get_parent(); up != nullptr; up = up->get_parent()) {
    name = up->get_name() + " " + name;
  }
  for (const CLI::Option* const option : app.get_options()) {
    if (!option->get_positional()) continue;
    const bool is_list = option->get_expected_max() > 1;
    const std::string word = option->get_name(true) + (is_list ? "..." : "");
    name += option->get_required() ? " " + word : " [" + word + "]";
  }
  const bool has_commands = !app.get_subcommands({}).empty();
  return fmt::format("Usage: {} {}\n", name, has_commands ? "COMMAND" : "[OPTIONS]");
}

std::string section(const std::string& title, const std::vector<HelpLine>& lines) {
  return lines.empty() ? "" : fmt::format("\n{}:\n{}", title, two_columns(lines));
}

// The description's first line as a sentence.
std::string as_sentence(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(text.front()));
  const std::size_t end = std::min(text.find('\n'), text.size());
  if (text[end - 1] != '.') text.insert(end, ".");
  return text;
}

// Names its functions as CLI11 does.
class PlainHelp : public CLI::FormatterBase {
 public:
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string /*name*/,
                                      CLI::AppFormatMode /*mode*/) const override {
    std::string text = usage_of(*app);
    text += "\n" + wrapped(as_sentence(app->get_description()), columns_of(STDOUT_FILENO));
    text += section("Commands", commands_of(*app));
    text += section("Arguments", lines_of(*app, [](const CLI::Option* option) {
                      return option->get_positional() && is_shown(*option);
                    }));
    for (const std::string& group : app->get_groups()) {
      if (group.empty()) continue;
      text += section(group, lines_of(*app, [&group](const CLI::Option* option) {
                        return !option->get_positional() && option->get_group() == group;
                      }));
    }
    const std::string footer = app->get_footer();
    return footer.empty() ? text : text + "\n" + wrapped(footer, columns_of(STDOUT_FILENO));
  }
};

}  // namespace

std::string two_columns(const std::vector<HelpLine>& lines) {
  const std::size_t columns = columns_of(STDOUT_FILENO);
  const std::size_t longest = std::min<std::size_t>(26, columns / 3);
  std::size_t width = 0;
  for (const HelpLine& line : lines) {
    if (line.term.size() <= longest) width = std::max(width, line.term.size());
  }
  std::string text;
  for (const HelpLine& line : lines) {
    const bool is_alone = line.term.size() > width;  // the term has a line of its own
    if (is_alone) text += fmt::format("  {}\n", line.term);
    text +=
        wrapped(line.text, columns, fmt::format("  {:<{}}  ", is_alone ? "" : line.term, width));
  }
  return text;
}

void use_plain_help(CLI::App& app) {
  app.formatter(std::make_shared<PlainHelp>());
  app.set_help_flag("-h,--help", "show this help, and end");
}

}  // namespace tandem::command_line
