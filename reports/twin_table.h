// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A cell that another implementation measured beside Tandem's own.
struct Twins {
  const CellSummary* theirs = nullptr;
  const CellSummary* ours = nullptr;
  stats::Estimate speed;  // their median step over ours: above 1, Tandem is faster
};

// What a wrapper costs where it has nothing to exchange: ddp or dp on one device over single.
struct WrapperCost {
  const CellSummary* wrapped = nullptr;
  const CellSummary* single = nullptr;
  stats::Estimate ratio;  // median step of the first over the second's
};

// Every cell of another implementation whose counterpart measured, in the order of the cells.
[[nodiscard]] std::vector<Twins> twins_of(const Summary& summary);

// Of each implementation, Tandem among them; empty where there is but one.
[[nodiscard]] std::vector<WrapperCost> wrapper_costs(const Summary& summary);

inline constexpr std::string_view kTwinTitle = "Beside PyTorch";
inline constexpr std::string_view kTwinNote =
    "The same model, first weights, data, optimizer, cores and sample on both sides, launches "
    "interleaved; above 1 Tandem is faster. Of a wrapper on one device the ratio is its step over "
    "single's, of the same implementation. A ratio whose interval holds 1 is not resolved (~).";

// kTwinNote, and what is not the same on both sides of the cells that are there.
[[nodiscard]] std::string twin_note(const Summary& summary);

// Both of them; no rows where no other implementation measured.
[[nodiscard]] Table twin_table(const Summary& summary);

}  // namespace tandem::reports
