// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/launch_record.h"

namespace tandem::reports {

// What of this launch is a model of hardware or of an interpreter and was not measured: "link
// 20us:1GBps, dispatch cost 8us, interpreter lock"; empty where all was measured. By the cell's
// options, since launches that left no figure have them too; else as the record says.
[[nodiscard]] std::string modelled_parts(const results::LaunchRecord& record);

// Whether two cells are asked the same question: the same place where the batch starts, the same
// optimizer, seed, models and planted delay. Other options are the answers that are compared.
[[nodiscard]] bool same_question(const results::Cell& a, const results::Cell& b);

}  // namespace tandem::reports
