// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

// Says why step_bench would refuse a cell's options, by the rules that both programs share.
// step_bench itself is asked what it alone knows: once about each model by name, and about each
// kind of cell whose model is a file, whose implementation is another or that has an option with
// Mark::kAsked. The launcher must outlive the check.
class OptionCheck {
 public:
  explicit OptionCheck(const Launcher& launcher) : launcher_(launcher) {}

  // Empty where the cell's options go together.
  [[nodiscard]] std::string refusal_of(const results::Cell& cell);

 private:
  const Launcher& launcher_;
  std::map<std::string, std::string> answers_;  // by question
};

// Throws a usage error that names the first cell, of `whose` ("the sweep"), whose options are
// refused. An interrupt ends the check.
void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts, std::string_view whose = "the sweep");

// Throws a usage error that names the first model which is another to the reference's programs: two
// builds may disagree on a name.
void check_same_work(const std::vector<results::Cell>& cells, const Launcher& own,
                     const Launcher& reference, const Interrupts& interrupts);

}  // namespace tandem::cli
