// SPDX-License-Identifier: Apache-2.0
//
// What a run is held against, its reference: another build, or this one with variables or options.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/sweep_runner.h"
#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {

// The options as the user wrote them; each applies to the reference alone.
struct AgainstOptions {
  std::string build;                   // a build folder or an unpacked archive; empty: this one
  std::vector<std::string> variables;  // "NAME=VALUE"
  std::vector<std::string> options;    // of step_bench: "--grads=views"

  [[nodiscard]] bool is_given() const {
    return !build.empty() || !variables.empty() || !options.empty();
  }
};

struct Reference {
  results::Against facts;            // with a new identifier of the run
  std::filesystem::path step_bench;  // empty: that of the run
  std::string version;               // of the reference's tandem; empty: that of the run
  std::string checksum;              // of its programs; empty: those of the run
};

// Throws a usage error for a folder without step_bench, for a build whose results this one does not
// read, and for a variable or an option that is none, or changes nothing.
[[nodiscard]] Reference checked_reference(const AgainstOptions& options);

// Drops the cells that do not take the reference's options, by `own` rules and programs. Throws a
// usage error where none is left, and where a cell would become one that is never compared with it,
// such as one with a modelled interpreter.
void drop_what_takes_no_option(PlannedCells& planned, const Reference& reference,
                               const Launcher& own, const Interrupts& interrupts);

// The settings of a run as the reference's launches have them.
[[nodiscard]] LaunchSettings settings_of_reference(const Reference& reference,
                                                   LaunchSettings settings);

// Throws a usage error where a journal was begun against something else, or against nothing.
void check_same_reference(const results::SweepInfo& found, const results::SweepInfo& asked,
                          const std::filesystem::path& journal);

// Throws a usage error where `out` holds a reference's results but none of its run.
void check_no_lonely_reference(const OutputPaths& out);

// The reference's journal in `out`; nothing where there is none. Throws a usage error where it is
// of another run than `run` says, or of other programs.
std::optional<results::JournalContents> check_reference_taken_up(const Reference& reference,
                                                                 const OutputPaths& out,
                                                                 const results::SweepInfo& run);

// The reference's part of a run: an ordinary folder of results within that of the run.
class ReferenceSide {
 public:
  // `run` is what the run's journal says; `settings` are those of the run.
  ReferenceSide(const Reference& reference, const OutputPaths& out, const results::SweepInfo& run,
                LaunchSettings settings, std::chrono::seconds timeout,
                const Interrupts& interrupts);

  [[nodiscard]] RunSide side() { return {launcher_, journal_, options_}; }
  [[nodiscard]] const OutputFolder& folder() const { return folder_; }
  // Copies, which concern both sides, are measured once for the run.
  void take_links(const results::SweepInfo& run);
  [[nodiscard]] results::JournalContents take_contents() { return journal_.take_contents(); }

 private:
  OutputFolder folder_;
  results::Journal journal_;
  Launcher launcher_;
  std::map<std::string, std::string> options_;
};

}  // namespace tandem::cli
