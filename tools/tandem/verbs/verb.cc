// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/verbs/verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/command_line/parsing.h"

namespace tandem::cli {
namespace {

// A spelling of the past: the verb, a word behind it, and what does the same now. An empty word
// stands for the verb alone; a word with dashes may stand anywhere.
struct Renamed {
  std::string_view verb;
  std::string_view word;
  std::string_view now;
};

constexpr auto kRenamed = std::to_array<Renamed>({
    {"run", "--list", "tandem list sweeps"},
    {"run", "seeds", "tandem run common-questions"},
    {"run", "ddp", "tandem run ddp-cost"},
    {"run", "repeat", "tandem run tests/agreement/repeat.json"},
    {"report", "--merge", "tandem merge"},
    {"profile", "timeline", "tandem trace record"},
    {"profile", "summary", "tandem trace summary"},
    {"profile", "picture", "tandem trace svg"},
    {"profile", "contention", "tandem contention"},
});

bool is_spelt(const Renamed& renamed, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != renamed.verb) return false;
  if (!renamed.word.starts_with('-')) return words[1] == renamed.word;
  return std::ranges::find(words, renamed.word) != words.end();
}

}  // namespace

CLI::App& add_command(CLI::App& above, const VerbText& text) {
  CLI::App& command = *above.add_subcommand(std::string(text.name), std::string(text.what));
  command.allow_extras();
  command.footer(
      fmt::format("Examples:\n{}{}{}", text.examples, text.more.empty() ? "" : "\n\n", text.more));
  return command;
}

void add_site(CLI::App& command, SiteOptions& site) {
  command.add_option("--launcher", site.launcher, "mpirun, or within a Slurm allocation srun")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--hosts", site.hosts,
                  "nodes to launch on and how many processes each takes, such as "
                  "node1:2,node2:2; programs and --out must be at the same path on all")
      ->type_name("HOST:COUNT,...");
  command.add_option("--hostfile", site.hostfile, "the same as a host file of Open MPI")
      ->type_name("FILE");
}

void add_step_bench(CLI::App& command, std::string& path) {
  command.add_option("--step-bench", path, "program that measures a launch")->group("");
}

CLI::Option* add_devices(CLI::App& command, int& devices, const std::string& what) {
  constexpr int kMost = 100'000;
  return command.add_option("--devices", devices, what)
      ->type_name("COUNT")
      ->check(command_line::whole_number(1, kMost));
}

void add_backend(CLI::App& command, std::string& backend) {
  command
      .add_option("--backend", backend,
                  "host (cores), cuda (GPUs), or auto: GPUs where there are any")
      ->type_name("NAME")
      ->capture_default_str();
}

void add_oversubscribe(CLI::App& command, bool& oversubscribe) {
  command.add_flag("--oversubscribe", oversubscribe,
                   "allow more devices than cores or GPUs; results carry the mark");
}

void check_spelling(const CLI::App& app, const std::vector<std::string>& words) {
  const auto renamed =
      std::ranges::find_if(kRenamed, [&](const Renamed& one) { return is_spelt(one, words); });
  if (renamed != kRenamed.end()) {
    fail(ErrorKind::kUsage, "'{} {}' is now '{}'", renamed->verb, renamed->word, renamed->now);
  }
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
