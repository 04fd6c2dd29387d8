// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tools/tandem/process/child_process.h"

namespace tandem::cli {

// The signal's name, "SIGKILL"; "signal 77" where the number has no name.
[[nodiscard]] std::string signal_name(int signal);

// The last line of a child's stderr that says why the child failed; "" where there is none.
// mpirun's text between rulers, about a rank having ended, counts only where stderr has no other
// reason.
[[nodiscard]] std::string reason_in(std::string_view stderr_text);

// The last lines of stderr for the record, 4 KiB at most.
[[nodiscard]] std::string tail_of(std::string_view stderr_text);

// How a rank ended, as its launcher reports it.
struct RankEnd {
  int rank = 0;
  int signal = 0;     // the signal that ended the rank; 0: none
  int exit_code = 0;  // set where no signal ended the rank
};

// The words of mpirun or srun about the rank that made them end the job; empty where they say
// nothing. A signal counts for more than an exit code.
[[nodiscard]] std::optional<RankEnd> ended_rank_in(std::string_view stderr_text);

// The node that mpirun says it lost, by a failed network or machine; "" where mpirun names none.
[[nodiscard]] std::string lost_node_in(std::string_view stderr_text);

// Whether mpirun says that its daemon could not start on some node: no such host, or no route to
// the host.
[[nodiscard]] bool says_no_daemon(std::string_view stderr_text);

// Why a child did not do its work, in one line: the child's own words, or else how the child ended
// ("it was stopped after 60 s without an end", where `name` is "it").
[[nodiscard]] std::string reason_of(const ChildResult& result, std::string_view name,
                                    std::chrono::seconds deadline);

}  // namespace tandem::cli
