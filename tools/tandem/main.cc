// SPDX-License-Identifier: Apache-2.0
// The command line: reads the words, runs the verb that they name, and turns errors into one line
// and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/command_line/help.h"
#include "common/command_line/parsing.h"
#include "common/options/table.h"
#include "common/options/values.h"
#include "common/results/document.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

constexpr int kFailureExit = 1;
constexpr int kSignalExit = 128;  // and the signal, as shells have it

constexpr const char* kExamples =
    "Examples:\n"
    "  tandem run                                        # which is faster here?\n"
    "  tandem explain --model=mlp-base --batch=64        # why?\n"
    "  tandem compare out/before out/after               # did it become slower?\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 the answer is bad (compare, doctor, "
    "verify), 130 interrupted (143: by SIGTERM).";

// The words of a document's command that can be repeated: --out is chosen anew.
std::vector<std::string> without_out(const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--out") {
      ++i;
    } else if (!words[i].starts_with("--out=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

// CLI11 takes a word such as [1,2] apart, which a user's command may need whole.
std::vector<std::string> behind_dashes(const std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  return dashes == words.end() ? std::vector<std::string>{} : std::vector(dashes + 1, words.end());
}

// The verb that was parsed; null for a program, or a group of verbs, that stands alone.
const Verb* parsed_verb(const Verbs& verbs) {
  const auto found =
      std::ranges::find_if(verbs, [](const Verb& verb) { return verb.app->parsed(); });
  return found == verbs.end() ? nullptr : &*found;
}

// The innermost command that was parsed.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : parsed_command(*parsed.front());
}

std::vector<std::string> step_options() {
  std::vector<std::string> names;
  for (const options::Option& option : options::kOptions)
    names.push_back(options::Name(option).flag());
  return names;
}

bool is_of_step_bench(const std::string& word) {
  if (!word.starts_with("--") || word.starts_with("--benchmark_")) return true;
  return options::find_option(word.substr(2, word.find('=') - 2)) != nullptr;
}

// Words that the command does not know may be step_bench's options and their values, but no other
// arguments.
void check_rest(const CLI::App& command, const Verb* verb) {
  const bool hands_on = verb != nullptr && verb->takes_step_options;
  for (const std::string& word : command.remaining()) {
    if (word == "--" && verb != nullptr && verb->takes_command) continue;
    if (!hands_on) command_line::refuse(command, word);
    if (!is_of_step_bench(word)) command_line::refuse(command, word, step_options());
  }
}

int run(const std::vector<std::string>& words, int count, char** arguments) {
  CLI::App app("DataParallel against DistributedDataParallel, measured on this machine.", "tandem");
  command_line::use_plain_help(app);
  app.set_version_flag(
      "--version",
      fmt::format("tandem {} (results schema {})", TANDEM_VERSION, results::schema_version()),
      "show the version, and end");
  app.footer(kExamples);
  app.require_subcommand(0, 1);
  app.allow_extras();
  Verbs verbs;
  add_measuring_verbs(app, verbs);
  add_report(app, verbs);
  add_compare(app, verbs);
  add_job_verbs(app, verbs);
  add_other_verbs(app, verbs);
  check_spelling(app, words);
  if (!command_line::parse(app, count, arguments)) return 0;
  const CLI::App& command = parsed_command(app);
  const Verb* const verb = parsed_verb(verbs);
  check_rest(command, verb);
  if (verb != nullptr) {
    return verb->run({.command = without_out(words),
                      .rest = command.remaining(),
                      .behind = behind_dashes(words)});
  }
  fmt::print("{}", command.help());
  return 0;
}

// Says the line on standard error; a line that nobody can read is lost without a further error.
void say(const std::string& line) { std::fputs(("tandem: " + line + "\n").c_str(), stderr); }

// Whether the reader of what is printed went away, as head does: whatever is left to print is then
// dropped, and the answer stays the status. A handler, unlike SIG_IGN, is not inherited by programs
// that this one starts.
volatile std::sig_atomic_t has_lost_reader = 0;

void outlive_reader() {
  std::signal(SIGPIPE, [](int /*signal*/) { has_lost_reader = 1; });
  // An answer is written as one, at the end: a verdict stands before anything can fail.
  static std::array<char, 1 << 20> answer;
  if (::isatty(STDOUT_FILENO) == 0) std::setvbuf(stdout, answer.data(), _IOFBF, answer.size());
}

int run_with_errors(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count}, count, arguments);
  } catch (const Interrupted& interrupted) {
    say(interrupted.what());
    return interrupted_exit();
  } catch (const Error& error) {
    say(error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    if (has_lost_reader == 1) return kSignalExit + SIGPIPE;
    if (std::ferror(stdout) == 0) say(error.what());
    return kFailureExit;
  }
}

// A full disk may show only when stdout is flushed, at the end.
int with_output_written(int code) {
  const int flushed = std::fflush(stdout);
  const std::string reason = flushed == 0 ? "it failed" : std::strerror(errno);
  if ((flushed == 0 && std::ferror(stdout) == 0) || has_lost_reader == 1) return code;
  say(fmt::format("writing to standard output: {}; lead it elsewhere", reason));
  return kFailureExit;
}

}  // namespace
}  // namespace tandem::cli

int main(int count, char** arguments) {
  tandem::cli::outlive_reader();
  tandem::cli::say_when_interrupted();
  return tandem::cli::with_output_written(tandem::cli::run_with_errors(count, arguments));
}
