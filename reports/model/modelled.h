// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/launch_record.h"

namespace tandem::reports {

// The launch's parts that are models of hardware or of an interpreter and were not measured: "link
// 20us:1GBps, dispatch cost 8us, interpreter lock"; empty where all parts were measured. The cell's
// options tell the parts, since launches that left no figure have options too; else the record
// tells them.
[[nodiscard]] std::string modelled_parts(const results::LaunchRecord& record);

// The cell's precision, "fp32" unless its options name another.
[[nodiscard]] std::string precision_of(const results::Cell& cell);

// The suffix ", bf16" after a cell's model and batch; empty for fp32.
[[nodiscard]] std::string precision_suffix(const results::Cell& cell);

// Whether the cell's steps are replays of a CUDA graph, which spare the host's work. Replayed steps
// answer another question than enqueued steps, and are no baseline for enqueued steps.
[[nodiscard]] bool is_replayed(const results::Cell& cell);

// Whether both cells have the same optimizer, whose cost is a part of the step.
[[nodiscard]] bool updates_alike(const results::Cell& a, const results::Cell& b);

// Whether the cell has no option except its precision.
[[nodiscard]] bool is_plain(const results::Cell& cell);

// Whether two cells answer the same question: the place where the batch starts, the optimizer,
// precision, seed, modelled parts and planted delay are the same. All other options are compared
// answers.
[[nodiscard]] bool same_question(const results::Cell& a, const results::Cell& b);

}  // namespace tandem::reports
