// SPDX-License-Identifier: Apache-2.0
//
// `tandem list`.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/command_line/help.h"
#include "common/options/reference.h"
#include "common/options/strategies.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/catalogue/description.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/sweep/sweep.h"
#include "tools/tandem/sweep/torch_options.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

using command_line::HelpLine;
using command_line::two_columns;

struct ListOptions {
  std::string topic;       // of kTopics; empty: all whose lists are short
  std::string name;        // of hardware: the machine whose description is printed; or empty
  std::string step_bench;  // path for tests; empty: step_bench beside tandem
};

// Prints the text in lines that the terminal has room for.
void print_lines(const std::string& text) {
  fmt::print("{}", to_lines(text, columns_of(STDOUT_FILENO)));
}

void list_sweep_names(const ListOptions& /*options*/) {
  std::vector<HelpLine> lines;
  for (const auto& [name, description] : list_sweeps(sweep_folders())) {
    lines.push_back({.term = name, .text = description});
  }
  fmt::print("Sweeps, for tandem run:\n{}", two_columns(lines));
}

void list_strategies(const ListOptions& /*options*/) {
  std::vector<HelpLine> lines;
  for (const options::StrategyTraits& traits : options::kStrategies) {
    lines.push_back({.term = std::string(traits.name), .text = std::string(traits.what)});
  }
  fmt::print("Strategies, for --strategy:\n{}", two_columns(lines));
  print_lines(fmt::format("PyTorch alone, for --cell of a module, has {} as well",
                          fmt::join(options::kSharding, " and ")));
}

void list_models(const ListOptions& options) {
  int state = 0;
  const std::string step_bench = shell_word(find_step_bench(options.step_bench).string());
  const std::string models =
      output_of(fmt::format("COLUMNS={} {} list", columns_of(STDOUT_FILENO), step_bench), &state);
  if (state != 0) fail(ErrorKind::kFailure, "list models: step_bench list failed: see above");
  fmt::print("Models, for --model:\n{}", models);
}

void list_options(const ListOptions& /*options*/) {
  for (std::size_t group = 0; group < options::kGroupNames.size(); ++group) {
    std::vector<HelpLine> lines;
    for (const auto& [term, text] : options::help_lines(group)) lines.push_back({term, text});
    fmt::print("{}{}:\n{}", group == 0 ? "" : "\n", options::kGroupNames[group],
               two_columns(lines));
  }
}

void list_torch_options(const ListOptions& /*options*/) {
  std::vector<HelpLine> lines;
  for (const TorchOption& option : torch_options()) {
    std::string takes = "NUMBER";
    if (!option.values.empty()) takes = std::string(option.values);
    std::string text;
    if (!option.of.empty()) text += fmt::format("{}: ", option.of);
    text += option.help;
    if (!option.usual.empty()) text += fmt::format("; default: {}", option.usual);
    lines.push_back({.term = fmt::format("{}={}", option.name, takes), .text = text});
  }
  print_lines(
      "Options of PyTorch's cells, for --cell; of several values the first is the default:");
  fmt::print("{}", two_columns(lines));
}

void print_entries(const std::string& title, const std::vector<CatalogueEntry>& entries) {
  std::vector<HelpLine> lines;
  for (const CatalogueEntry& entry : entries) {
    lines.push_back({.term = entry.name, .text = entry.what});
  }
  print_lines(title);
  fmt::print("{}\n", two_columns(lines));
}

void list_hardware(const ListOptions& options) {
  if (!options.name.empty()) {
    fmt::print("{}", hardware_text(find_hardware(options.name, "list hardware")));
    return;
  }
  print_entries("Hardware, for tandem project --hardware:", catalogue_nodes());
  print_entries(
      "Networks, for several of them (--hardware=dgx-a100x4@8xib-200g: 4 nodes, 8 links each):",
      catalogue_networks());
  print_lines("The figures of one, with their sources, as a file: tandem list hardware dgx-a100");
}

struct Topic {
  std::string_view name;
  void (*list)(const ListOptions& options);
  bool is_short = true;
};

constexpr auto kTopics = std::to_array<Topic>({
    {"sweeps", list_sweep_names},
    {"strategies", list_strategies},
    {"models", list_models},
    {"hardware", list_hardware, false},
    {"options", list_options, false},
    {"torch-options", list_torch_options, false},
});

// All topics whose lists are short.
void list_short(const ListOptions& options) {
  for (const Topic& topic : kTopics) {
    if (!topic.is_short) continue;
    topic.list(options);
    fmt::print("\n");
  }
  print_lines(
      "Machines for simulated steps: tandem list hardware; options of a step: tandem list options; "
      "of PyTorch's cells: tandem list torch-options");
}

// Throws a usage error for an unknown topic, a failure where step_bench cannot list its models.
void run_list(const ListOptions& options) {
  if (options.topic.empty()) return list_short(options);
  if (!options.name.empty() && options.topic != "hardware") {
    fail(ErrorKind::kUsage, "list {}: '{}' is one too many; of hardware alone one can be named",
         options.topic, options.name);
  }
  const auto topic = std::ranges::find(kTopics, options.topic, &Topic::name);
  if (topic != kTopics.end()) return topic->list(options);
  std::vector<std::string_view> known;
  for (const Topic& one : kTopics) known.push_back(one.name);
  fail(ErrorKind::kUsage, "list: '{}' is no topic{}; use {}", options.topic,
       did_you_mean(options.topic, known), fmt::join(known, ", "));
}

}  // namespace

void add_list(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App& list = add_command(
      app, {.name = "list",
            .what = "name the sweeps, models, strategies, options or machines there are",
            .examples = "  tandem list sweeps\n"
                        "  tandem list models\n"
                        "  tandem list hardware dgx-a100 > own.json"});
  list.add_option(
      "TOPIC", options->topic,
      "sweeps, models, strategies, hardware, options or torch-options; default: the first three");
  list.add_option("NAME", options->name, "with hardware: the machine whose figures are printed");
  add_step_bench(list, options->step_bench);
  verbs.push_back({&list, [options](const Call&) {
                     run_list(*options);
                     return 0;
                   }});
}

}  // namespace tandem::cli
