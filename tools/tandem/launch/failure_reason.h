// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/flight/flight_recorder.h"
#include "tools/tandem/process/child_reason.h"

namespace tandem::cli {

// Why a launch failed, in one line that names rank, step, phase and collective. The function reads
// what the ranks left behind and what the launcher said of the ranks. The result is "" where
// neither knows more than the ranks' own words: no records, or the same error on every rank.
//
// `said` holds the last words of a rank that left no record. `lost_node` is the node that the
// launcher lost, by its name in the records; "" means none.
//
// The evidence by weight: the ranks of a lost node; a rank that a signal ended; ranks that came for
// different collectives; a rank with an error of its own, the first in time; a rank that left
// without a word; a rank that never began; a rank that another rank of the host saw stopped, or
// that others waited for: this rank neither ended nor said in time that it gave up, and got least
// far; ranks that all gave up waiting for one another.
[[nodiscard]] std::string failure_reason(const std::vector<FlightRecord>& records,
                                         const std::optional<RankEnd>& launcher_says,
                                         const std::string& said = "",
                                         const std::string& lost_node = "");

// The place at which a rank ran out of device memory, before anything else went wrong: "out of
// memory: rank 1 in step 12, phase backward, before all_reduce #35 (4.0 MiB): ..."; "" where the
// launch failed otherwise, or before the first step.
[[nodiscard]] std::string out_of_memory(const std::vector<FlightRecord>& records);

// The place of a launch that had to be stopped from outside: the place of the rank that got least
// far; "" without records.
[[nodiscard]] std::string least_far(const std::vector<FlightRecord>& records);

}  // namespace tandem::cli
