// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// Algorithm against launch, at each point where all four corners measured with the same options:
// the median steps of dp and dp-allreduce (threads), of ddp-replicate and ddp (processes), and the
// speed ratios of either choice beside and below them. No rows where no point has all four corners.
// two_by_two_note() belongs below the table.
[[nodiscard]] TextTable two_by_two_table(const Summary& summary);

// The causes other than the launch in the ratio of dp and ddp-replicate, by how dp's transfers were
// made.
[[nodiscard]] std::string two_by_two_note(const Summary& summary);

}  // namespace tandem::reports
