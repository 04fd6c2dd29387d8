// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/text.h"
#include "common/options/values.h"
#include "common/results/document.h"
#include "reports/model/document_change.h"
#include "reports/model/subject.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/option_check.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

// 128 random bits, as hexadecimal digits.
std::string new_identifier() {
  std::random_device random;
  std::string text;
  for (int part = 0; part < 4; ++part) text += fmt::format("{:08x}", random());
  return text;
}

// The folder of the build's programs.
fs::path programs_of(const std::string& build) {
  for (const fs::path& folder : {fs::path(build) / "bin", fs::path(build)}) {
    if (is_program(folder / "step_bench")) return fs::absolute(folder);
  }
  fail(ErrorKind::kUsage,
       "--against: {} has no bin/step_bench: give a build folder, or an unpacked archive of "
       "tools/bundle",
       build);
}

std::string_view major_of(std::string_view version) { return version.substr(0, version.find('.')); }

// The version in "tandem 0.2.0 (results schema 2.0.0)", after a look at that schema.
std::string checked_version(const std::string& build, const fs::path& programs) {
  const std::string said =
      output_of(shell_word((programs / "tandem").string()) + " --version 2>&1");
  constexpr std::string_view kName = "tandem ";
  constexpr std::string_view kSchema = "results schema ";
  if (!said.starts_with(kName)) return "not told";
  const std::size_t schema = said.find(kSchema);
  if (schema != std::string::npos) {
    std::string_view there = std::string_view(said).substr(schema + kSchema.size());
    there = there.substr(0, there.find_first_not_of("0123456789."));
    if (major_of(there) != major_of(results::schema_version())) {
      fail(ErrorKind::kUsage,
           "--against: the build {} writes results of schema {}, and this one reads {}: give a "
           "build whose results it reads",
           build, there, results::schema_version());
    }
  }
  const std::string_view rest = std::string_view(said).substr(kName.size());
  return std::string(rest.substr(0, rest.find_first_of(" \n")));
}

std::vector<std::string> checked_variables(const std::vector<std::string>& variables) {
  std::set<std::string> names;
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool is_word = !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
      return std::isalnum(letter) != 0 || letter == '_';
    });
    if (!is_word || name.size() == variable.size() || std::isdigit(name.front()) != 0) {
      fail(ErrorKind::kUsage, "--against-env: '{}' is no NAME=VALUE, such as NCCL_ALGO=Ring",
           variable);
    }
    if (!names.insert(name).second) {
      fail(ErrorKind::kUsage, "--against-env: {} is given twice: give it once", name);
    }
  }
  return variables;
}

// The option and its value. Throws a usage error for what no sweep may vary, and for a default.
std::pair<std::string, std::string> checked_option(std::string_view words) {
  const std::string_view given = words.substr(std::min(words.find_first_not_of('-'), words.size()));
  const std::string name(given.substr(0, given.find('=')));
  const options::Option* const option = options::find_option(name);
  if (option == nullptr || !option->is(options::kVaried)) {
    fail(ErrorKind::kUsage,
         "--against-option: '{}' is no option that a sweep's strategies have{}; step_bench --help "
         "lists all",
         words, did_you_mean(name, options::names_with(options::kVaried)));
  }
  const bool is_bare = name.size() == given.size();
  const std::string value(is_bare ? option->value.bare : given.substr(name.size() + 1));
  if (value.empty()) {
    fail(ErrorKind::kUsage, "--against-option: --{} needs a value, such as --{}={}", name, name,
         option->example);
  }
  options::Values values;
  values.give(*option, value);
  options::check_form(*option, values.in_force(*option));
  if (!values.is_set(*option)) {
    fail(ErrorKind::kUsage,
         "--against-option: --{}={} is the default, so that both sides would be the same", name,
         value);
  }
  return {name, values.in_force(*option)};
}

// Why a cell is never compared with itself under the reference's options; empty where it is.
std::string why_never_compared(const results::Cell& cell, const results::Cell& with) {
  results::LaunchRecord own;
  own.cell = cell;
  results::LaunchRecord other;
  other.cell = with;
  if (reports::modelled_parts(own) != reports::modelled_parts(other)) {
    return "what is modelled is never compared with what is measured, nor with another model";
  }
  if (cell.option("free-running") != with.option("free-running")) {
    return "free-running steps are never compared with others";
  }
  return "";
}

}  // namespace

Reference checked_reference(const AgainstOptions& options) {
  Reference reference;
  reference.facts.run = new_identifier();
  reference.facts.variables = checked_variables(options.variables);
  for (const std::string& words : options.options) {
    auto [name, value] = checked_option(words);
    if (!reference.facts.options.emplace(name, std::move(value)).second) {
      fail(ErrorKind::kUsage, "--against-option: --{} is given twice: give it once", name);
    }
  }
  if (options.build.empty()) return reference;
  const fs::path programs = programs_of(options.build);
  reference.step_bench = programs / "step_bench";
  reference.version = checked_version(options.build, programs);
  reference.checksum = checksum_of_programs(reference.step_bench);
  reference.facts.build = fs::weakly_canonical(options.build).string();
  return reference;
}

void drop_what_takes_no_option(PlannedCells& planned, const Reference& reference,
                               const Launcher& own, const Interrupts& interrupts) {
  if (reference.facts.options.empty()) return;
  OptionCheck check(own);
  PlannedCells left{.cells = {}, .dropped = std::move(planned.dropped)};
  std::string refusal;
  for (results::Cell& cell : planned.cells) {
    if (interrupts.requested()) throw Interrupted("planning the run");
    results::Cell with = cell;
    std::string why;
    for (const auto& [name, value] : reference.facts.options) {
      if (!with.options.emplace(name, value).second) {
        why = fmt::format("the cell has --{} itself", name);
      }
    }
    if (why.empty()) why = check.refusal_of(with);
    if (!why.empty()) {
      if (refusal.empty()) refusal = why;
      left.dropped.push_back({.cell = std::move(cell), .reason = "--against-option: " + why});
      continue;
    }
    if (const std::string never = why_never_compared(cell, with); !never.empty()) {
      fail(ErrorKind::kUsage, "--against-option: {}", never);
    }
    left.cells.push_back(std::move(cell));
  }
  planned = std::move(left);
  if (!planned.cells.empty()) return;
  fail(ErrorKind::kUsage, "--against-option: no cell of the sweep takes it: {}", refusal);
}

LaunchSettings settings_of_reference(const Reference& reference, LaunchSettings settings) {
  if (!reference.step_bench.empty()) settings.step_bench = reference.step_bench;
  settings.variables = reference.facts.variables;
  return settings;
}

void check_same_reference(const results::SweepInfo& found, const results::SweepInfo& asked,
                          const fs::path& journal) {
  const auto words = [](const results::SweepInfo& sweep) {
    return sweep.against ? reports::reference_text(*sweep.against) : std::string("nothing");
  };
  const std::string then = words(found);
  const std::string now = words(asked);
  if (then == now) return;
  fail(ErrorKind::kUsage,
       "resuming {}: it was begun against {}, and now it is against {}; repeat the former, or "
       "choose another --out",
       journal.string(), then, now);
}

void check_no_lonely_reference(const OutputPaths& out) {
  const OutputPaths reference(out.against());
  reference.check_holds_no_other();
  std::error_code unknown;
  if (fs::exists(out.journal(), unknown) || !fs::exists(reference.journal(), unknown)) return;
  fail(ErrorKind::kUsage, "--out: {} is of a run that is not there: choose another folder",
       reference.folder().string());
}

namespace {

results::SweepInfo sweep_of_reference(const Reference& reference, results::SweepInfo run) {
  run.against->is_reference = true;
  run.links.reset();
  run.additions.clear();
  if (!reference.version.empty()) run.context.custom["tandem_version"] = reference.version;
  if (!reference.checksum.empty()) note_programs(run.context, reference.checksum);
  return run;
}

}  // namespace

std::optional<results::JournalContents> check_reference_taken_up(const Reference& reference,
                                                                 const OutputPaths& out,
                                                                 const results::SweepInfo& run) {
  const std::filesystem::path path = OutputPaths(out.against()).journal();
  auto journal = as_input([&] { return results::read_journal(path); });
  if (!journal) return std::nullopt;
  const auto& against = journal->sweep.against;
  if (!against || against->run != run.against->run) {
    fail(ErrorKind::kUsage, "resuming {}: it belongs to another run; choose another --out",
         path.string());
  }
  const results::Context here = sweep_of_reference(reference, run).context;
  check_same_machine(journal->sweep, here, path);
  check_same_programs(journal->sweep, here, path);
  return journal;
}

ReferenceSide::ReferenceSide(const Reference& reference, const OutputPaths& out,
                             const results::SweepInfo& run, LaunchSettings settings,
                             std::chrono::seconds timeout, const Interrupts& interrupts)
    : folder_(out.against()),
      journal_(folder_.journal(), sweep_of_reference(reference, run)),
      launcher_(settings_of_reference(reference, std::move(settings)), folder_.logs(), timeout,
                interrupts),
      options_(reference.facts.options) {
  folder_.mark_unfinished();
}

void ReferenceSide::take_links(const results::SweepInfo& run) {
  const auto& own = journal_.contents().sweep.links;
  if (run.links && own != run.links) journal_.note_links(*run.links);
}

}  // namespace tandem::cli
