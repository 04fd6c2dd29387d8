// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/verbs/verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/command_line/parsing.h"

namespace tandem::cli {

CLI::App& add_command(CLI::App& above, const VerbText& text) {
  CLI::App& command = *above.add_subcommand(std::string(text.name), std::string(text.what));
  command.allow_extras();
  command.footer(
      fmt::format("Examples:\n{}{}{}", text.examples, text.more.empty() ? "" : "\n\n", text.more));
  return command;
}

void add_site(CLI::App& command, SiteOptions& site) {
  add_usual(command, "--launcher NAME", site.launcher, "mpirun, or within a Slurm allocation srun");
  add(command, "--hosts HOST:COUNT,...", site.hosts,
      "nodes and the processes on each, such as node1:2,node2:2; programs and --out "
      "have the same path on all");
}

void add_step_bench(CLI::App& command, std::string& path) {
  command.add_option("--step-bench", path, "program that measures a launch")->group("");
}

CLI::Option* add_devices(CLI::App& command, int& devices, const std::string& what) {
  constexpr int kMost = 100'000;
  return add(command, "--devices COUNT", devices, what)
      ->check(command_line::whole_number(1, kMost));
}

void add_backend(CLI::App& command, std::string& backend) {
  add_usual(command, "--backend NAME", backend,
            "host (cores), cuda (GPUs), or auto: GPUs where there are any");
}

void add_details(CLI::App& command, bool& has_details) {
  command.add_flag("--details", has_details,
                   "print the tables behind the answer, with definitions");
}

void add_oversubscribe(CLI::App& command, bool& oversubscribe) {
  command.add_flag("--oversubscribe", oversubscribe, "allow more devices than cores or GPUs");
}

void check_spelling(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return;
  if (words.front() == "help") {
    fail(ErrorKind::kUsage, "there is no command 'help'; use tandem --help, or tandem {} --help",
         words.size() > 1 ? words[1] : "COMMAND");
  }
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_name() == words.front()) return;
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  fail(ErrorKind::kUsage, "there is no command '{}'{}; use {}", words.front(),
       did_you_mean(words.front(), known), fmt::join(known, ", "));
}

}  // namespace tandem::cli
