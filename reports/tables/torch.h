// SPDX-License-Identifier: Apache-2.0
//
// Tables of PyTorch's cells: beside Tandem's, and where the host's time goes.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

// The median step of one cell over that of another.
struct StepRatio {
  const CellSummary* of = nullptr;
  const CellSummary* over = nullptr;
  stats::Estimate ratio;
};

// Every cell of another implementation over Tandem's own, where both measured, in the order of the
// cells: above 1 Tandem is faster.
[[nodiscard]] std::vector<StepRatio> twins_of(const Summary& summary);

// The cost of a wrapper without communication: ddp or dp on one device over single, of each
// implementation, Tandem among them; empty where there is only one implementation.
[[nodiscard]] std::vector<StepRatio> wrapper_costs(const Summary& summary);

// The table's heading: of both sides, or of the wrappers' costs where there is one side.
[[nodiscard]] const Heading& twin_heading(const Summary& summary);

// The text below twin_table: how to read it, and in what PyTorch's steps differ from Tandem's.
[[nodiscard]] std::string twin_note(const Summary& summary);

// The twins and the wrapper costs; no rows where no other implementation measured.
[[nodiscard]] TextTable twin_table(const Summary& summary);

// A row per part of the host's work and cell of PyTorch's on pretended GPUs, then one per kind of
// thread: wall time, the thread's CPU time, its wait for a core, and the rest, which is the wait
// for the interpreter's lock or another thread. Means over launches; no rows where no launch
// reports it.
[[nodiscard]] TextTable host_work_table(const Summary& summary);

}  // namespace tandem::reports
