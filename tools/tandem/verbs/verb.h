// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the command line: what each takes, says in --help, and runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/command_line/adding.h"
#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

using command_line::add;
using command_line::add_usual;

// The words of one command line.
struct Call {
  std::vector<std::string> command{};  // all words behind "tandem", without --out
  std::vector<std::string> rest{};     // words that are none of the verb's options
  std::vector<std::string> behind{};   // words behind "--", as they were given
};

struct Verb {
  CLI::App* app = nullptr;
  std::function<int(const Call&)> run{};  // returns the exit status
  bool takes_step_options = false;        // words that the verb does not know are step_bench's
  bool takes_command = false;             // words behind "--" are those of a command
};

using Verbs = std::vector<Verb>;

// The text of a verb's help: what it does, its two examples, and what stands behind these.
struct VerbText {
  std::string_view name;
  std::string_view what;  // the first line alone stands in the list of verbs
  std::string_view examples;
  std::string_view more{};
};

// Adds a command below `above`.
CLI::App& add_command(CLI::App& above, const VerbText& text);

// Options that several verbs share.
void add_site(CLI::App& command, SiteOptions& site);
void add_step_bench(CLI::App& command, std::string& path);  // hidden: for tests
CLI::Option* add_devices(CLI::App& command, int& devices, const std::string& what);
void add_backend(CLI::App& command, std::string& backend);
void add_details(CLI::App& command, bool& has_details);
void add_oversubscribe(CLI::App& command, bool& oversubscribe);

// Each adds its verbs to the program and to the list.
void add_measuring_verbs(CLI::App& app, Verbs& verbs);  // run, explain, project
void add_report(CLI::App& app, Verbs& verbs);
void add_compare(CLI::App& app, Verbs& verbs);
void add_job_verbs(CLI::App& app, Verbs& verbs);    // verify, trace
void add_other_verbs(CLI::App& app, Verbs& verbs);  // doctor, lessons, list, pretend
void add_doctor(CLI::App& app, Verbs& verbs);
void add_list(CLI::App& app, Verbs& verbs);

// Throws a usage error for a verb that there is not, with the nearest one.
void check_spelling(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tandem::cli
