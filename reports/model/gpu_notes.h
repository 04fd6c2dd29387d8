// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The facts, by name, about the GPUs of the measured launch with the most GPUs: the GPUs' places,
// the connections between them, and the CPUs on which their threads ran. Empty on the host.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_facts(
    const results::Document& document);

// A line per kind of doubt that the driver's readings cast on a figure: clocks held down, other
// work on the GPUs, threads far from the GPUs, a GPU divided into instances. No lines on the host.
[[nodiscard]] std::vector<std::string> gpu_notes(const results::Document& document);

// The mark beside a figure: how much of the measurement the clocks of the worst GPU were held down,
// and by what cause. Where the driver counts no time, the mark names the causes at the readings
// before and after. Empty where no cause is known.
[[nodiscard]] std::string slowdown_mark(const CellSummary& cell);

// The mark beside a figure whose GPUs' clocks still drifted when the warm-up ended at its cap: by
// how much at most. Empty where they were steady or cannot be read.
[[nodiscard]] std::string clock_mark(const CellSummary& cell);

}  // namespace tandem::reports
