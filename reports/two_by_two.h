// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Algorithm against launch, where all four corners measured at a point with the same options: the
// median steps of dp and dp-allreduce (threads), of ddp-replicate and ddp (processes), and beside
// and below them the speed ratios of either choice. No rows where no point has all four.
// two_by_two_note() belongs below the table.
[[nodiscard]] Table two_by_two_table(const Summary& summary);

// What its ratio of dp and ddp-replicate holds besides the launch, by how dp's transfers were made.
[[nodiscard]] std::string two_by_two_note(const Summary& summary);

}  // namespace tandem::reports
