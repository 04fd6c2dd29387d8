// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tandem::cli {

// The last line of a child's stderr that says why it failed; "" where there is none. What mpirun
// adds between rulers, about a rank having ended, is passed over unless there is nothing else.
[[nodiscard]] std::string reason_in(std::string_view stderr_text);

// The last lines, for the record: 4 KiB at most.
[[nodiscard]] std::string tail_of(std::string_view stderr_text);

// How a rank ended, as its launcher tells it.
struct RankEnd {
  int rank = 0;
  int signal = 0;     // that ended it; 0: none
  int exit_code = 0;  // where no signal did
};

// What mpirun or srun says of the rank that made it end the job; nothing where they say nothing. A
// signal counts for more than an exit code.
[[nodiscard]] std::optional<RankEnd> ended_rank_in(std::string_view stderr_text);

// The node that mpirun says it lost: its network or the whole machine went; "" where it says no
// such thing.
[[nodiscard]] std::string lost_node_in(std::string_view stderr_text);

// Whether mpirun says that it could not start its daemon on some node: no such host, no way there.
[[nodiscard]] bool says_no_daemon(std::string_view stderr_text);

}  // namespace tandem::cli
