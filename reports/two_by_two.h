// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Algorithm against launch, where all four corners measured at a point with the same options: the
// median steps of dp and dp-allreduce (threads), of ddp-replicate and ddp (processes), and beside
// and below them the speed ratios of either choice. No rows where no point has all four.
// kTwoByTwoNote belongs below the table.
[[nodiscard]] Table two_by_two_table(const Summary& summary);

inline constexpr std::string_view kTwoByTwoNote =
    "Speed of processes / threads, of dp and ddp-replicate: more than the launch differs, since dp "
    "copies and adds one peer after the other, and ddp-replicate has collectives.";

}  // namespace tandem::reports
