// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/launch_record.h"

namespace tandem::reports {

// What of this launch is a model of hardware or of an interpreter and was not measured: "link
// 20us:1GBps, dispatch cost 8us, interpreter lock"; empty where all was measured. By the cell's
// options, since launches that left no figure have them too; else as the record says.
[[nodiscard]] std::string modelled_parts(const results::LaunchRecord& record);

// What the cell computes in: "fp32", unless its options say otherwise.
[[nodiscard]] std::string precision_of(const results::Cell& cell);

// ", bf16" behind a cell's model and batch; nothing for fp32.
[[nodiscard]] std::string precision_suffix(const results::Cell& cell);

// Whether its steps are replays of a CUDA graph, which spare the host's work: another question than
// that of steps that are enqueued, and no baseline for them.
[[nodiscard]] bool is_replayed(const results::Cell& cell);

// Whether both have the same optimizer, whose cost is a part of the step.
[[nodiscard]] bool updates_alike(const results::Cell& a, const results::Cell& b);

// Whether the cell has no option, but for its precision.
[[nodiscard]] bool is_plain(const results::Cell& cell);

// Whether two cells are asked the same question: the same place where the batch starts, the same
// optimizer, precision, seed, models and planted delay. Other options are the answers that are
// compared.
[[nodiscard]] bool same_question(const results::Cell& a, const results::Cell& b);

}  // namespace tandem::reports
