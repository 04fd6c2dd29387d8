// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/document.h"
#include "common/results/launch_record.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The option of a cell that another program measured: "torch-2.15.0" is PyTorch's own strategy with
// the cell's name. Cells without this option are Tandem's.
inline constexpr const char* kImplementation = "implementation";

// The cell's implementation; empty for Tandem.
[[nodiscard]] std::string implementation_of(const results::Cell& cell);

// What an option says of the question that the cell answers; empty where it has its default, "off"
// of switches. PyTorch's micro-batches are an answer: torch has them under ddp, fsdp and zero1
// alone, beside steps in one piece.
[[nodiscard]] std::string question_value(const results::Cell& cell, const std::string& option);

// The one other implementation that measured all cells, "torch-2.15.0", so that it is what the
// report is about; empty where cells are Tandem's or there are none.
[[nodiscard]] std::string sole_implementation(const Summary& summary);

// Whether the pair counts in the verdict: Tandem's own, and another implementation's where that is
// what the report is about.
[[nodiscard]] bool is_of_subject(const StrategyPair& pair, const Summary& summary);

// The same cell with Tandem's implementation.
[[nodiscard]] results::Cell own_cell(const results::Cell& cell);

// The cell of a projection without its machine, so that the question is left.
[[nodiscard]] results::Cell asked_cell(results::Cell cell);

// The launch's parts that are models of hardware or of an interpreter and were not measured:
// "hardware dgx-a100, dispatch cost 8us, interpreter lock"; empty where all parts were measured.
// The cell's options name the parts, since launches that left no figure have options too; else the
// record names them.
[[nodiscard]] std::string modelled_parts(const results::LaunchRecord& record);

// The cell's precision, "fp32" unless its options name another.
[[nodiscard]] std::string precision_of(const results::Cell& cell);

// The suffix ", bf16" after a cell's model and batch; empty for fp32.
[[nodiscard]] std::string precision_suffix(const results::Cell& cell);

// Whether the cell's steps are replays of a CUDA graph, which older documents may have. Replays
// spare the host's work: they answer another question than enqueued steps, and are no baseline for
// enqueued steps.
[[nodiscard]] bool is_replayed(const results::Cell& cell);

// Whether the cell has no option except its precision.
[[nodiscard]] bool is_plain(const results::Cell& cell);

// Whether threads that dispatch calls share a process, so that a lock between them does something.
[[nodiscard]] bool shares_interpreter(const results::Cell& cell);

// Whether two cells answer the same question: the place where the batch starts, the optimizer,
// precision, seed, micro-batches, modelled parts and planted delay are the same, but for a lock
// where one of the two has nothing to lock. All other options are compared answers.
[[nodiscard]] bool same_question(const results::Cell& a, const results::Cell& b);

// The model without the checksum of its file.
[[nodiscard]] std::string spoken_model(const results::Cell& cell);

// The text "mlp-small, batch 64, 2 devices".
[[nodiscard]] std::string point_text(const results::Cell& cell);

// The name of independent in reports: that name does not say that it bounds what any strategy can
// reach. Cells, CSV, JSON and commands keep the stored name.
inline constexpr const char* kNoCommunication = "no communication (bound)";

// The label "dp", "ddp, grads=views" or "no communication (bound), threads": the launch is named
// where the strategy alone does not decide the launch, and the options. A cell on pretended GPUs
// ends with ", pretended" and a simulated one with ", simulated", so that no row of any table can
// pass for a GPU's or for a measured one.
[[nodiscard]] std::string strategy_label(const results::Cell& cell);

// The key of a projection's context under which stands what is behind the figures, a sentence.
inline constexpr const char* kStanding = "tandem_standing";

// The key of a projection's context under which its answer stands, as answer_of() has it.
inline constexpr const char* kProjectedAnswer = "tandem_answer";

// The key of a projection's context under which stand the half widths on logs of the intervals of
// projected figures, by strategy, and up to how many devices each is: "dp:0.157:8,ddp:0.064:16". A
// fourth field says of more than how many devices it is, those of a node: "ddp:0.22:64:8".
inline constexpr const char* kHalfWidths = "tandem_half_widths";

// The first words of every verdict: of a projection what stands behind it, else the hardware behind
// the figures, without a full stop.
[[nodiscard]] std::string subject(const results::Document& document, const Summary& summary);

// The machine facts of the launch that saw the most cores; empty where no launch measured.
[[nodiscard]] results::MachineFacts machine_of(const results::Document& document);

}  // namespace tandem::reports
