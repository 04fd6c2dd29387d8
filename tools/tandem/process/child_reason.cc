// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/child_reason.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <vector>

#include "common/base/lines.h"
#include "common/base/text.h"

namespace tandem::cli {

namespace {

// The lines without blanks at their ends, and without empty lines.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  std::ranges::transform(lines, lines.begin(), trimmed);
  std::erase(lines, "");
  return lines;
}

bool is_ruler(std::string_view line) {
  return line.size() >= 10 && line.find_first_not_of("-=") == std::string_view::npos;
}

// Whether the line is "[node][[16852,1],3][btl_tcp_proc.c:266:function] text": a remark with its
// place in Open MPI.
bool is_place_in_open_mpi(std::string_view line) {
  const std::size_t job = line.find("][[");
  return line.starts_with('[') && job != std::string_view::npos &&
         line.find(".c:", job) != std::string_view::npos;
}

// Whether the line is a remark of Open MPI on stderr outside its rulers.
bool is_mpirun_remark(std::string_view line) {
  return line.find("sent help message") != std::string_view::npos ||
         line.find("orte_base_help_aggregate") != std::string_view::npos ||
         (line.find("] *** ") != std::string_view::npos &&
          line.find(" MPI_ERR_") == std::string_view::npos) ||
         line.find("ORTE_ERROR_LOG") != std::string_view::npos ||
         line.find("PMIX ERROR") != std::string_view::npos ||
         line.starts_with("[warn] Epoll ") ||  // of libevent, by which Open MPI 5 waits
         is_place_in_open_mpi(line);
}

// Whether the line is true but no reason: Open MPI's words after a rank has ended, or this
// program's about the hardware.
bool is_no_reason(std::string_view line) {
  return line.starts_with("Primary job ") || line.starts_with("backend host: ") ||
         line.starts_with("pretended GPUs: ") || line.starts_with("backend cuda: ") ||
         line.starts_with("MPI_ABORT was invoked on");
}

// Completes the line "It appears as if there is not enough space for /dev/shm/... (the
// shared-memory backing", which Open MPI breaks.
std::string completed(std::string_view line) {
  constexpr std::string_view kNoSpace = "not enough space for ";
  const std::size_t at = line.find(kNoSpace);
  if (at == std::string_view::npos) return std::string(line);
  const std::string_view rest = line.substr(at + kNoSpace.size());
  return "Open MPI found not enough space for " + std::string(rest.substr(0, rest.find(' '))) +
         ": free or enlarge the file system it lies on";
}

// Whether Slurm wrote the line, about a task that ended; the task's own words go first.
bool is_slurm_line(std::string_view line) {
  return line.starts_with("srun:") || line.starts_with("slurmstepd:");
}

// The number behind `label`; nothing where there is none.
std::optional<int> number_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  text = trimmed(text.substr(at + label.size()));
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

// Reads "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)."
// Open MPI 5 writes the sentence about prterun and breaks the line.
std::optional<RankEnd> signal_by_mpirun(std::string_view stderr_text) {
  constexpr std::string_view kNoticed = "noticed that process rank ";
  const std::string joined = fmt::format("{}", fmt::join(lines_of(stderr_text), " "));
  const std::size_t at = joined.find(kNoticed);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view words = std::string_view(joined).substr(at);
  const auto rank = number_after(words, kNoticed);
  const auto signal = number_after(words, "exited on signal ");
  if (!rank || !signal) return std::nullopt;
  return RankEnd{.rank = *rank, .signal = *signal};
}

// The rank in "Process name: [[19591,1],1]", or in Open MPI 5's "Process name:
// [prterun-vm-74@1,1]".
std::optional<int> named_rank(std::string_view line) {
  const std::size_t comma = line.rfind(',');
  if (!line.starts_with("Process name: [") || comma == line.npos) return std::nullopt;
  return number_after(line.substr(comma), ",");
}

// Reads "srun: error: node1: task 1: Killed", with the words of strsignal.
std::optional<RankEnd> signal_by_srun(std::string_view line) {
  const auto rank = number_after(line, ": task ");
  if (!line.starts_with("srun: error:") || !rank) return std::nullopt;
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTERM}) {
    if (line.find(::strsignal(signal)) != std::string_view::npos) {
      return RankEnd{.rank = *rank, .signal = signal};
    }
  }
  return std::nullopt;
}

constexpr std::string_view kRankOfTorch = "step_twin: rank ";  // begins what one says of its end

// Whether a rank of torch's says that another one is gone, which names no cause.
bool is_of_another_rank(std::string_view line) {
  return line.starts_with(kRankOfTorch) && line.find(": it lost another rank: ") != line.npos;
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::optional<RankEnd> ended_rank_in(std::string_view stderr_text) {
  if (const auto end = signal_by_mpirun(stderr_text)) return end;
  std::optional<RankEnd> exited;
  std::optional<int> named;
  for (const std::string_view line : lines_of(stderr_text)) {
    if (const auto end = signal_by_srun(line)) return end;
    if (const auto rank = named_rank(line)) named = rank;
    const auto code = number_after(line, "Exit code:");
    if (named && code) exited = RankEnd{.rank = *named, .exit_code = *code};
  }
  return exited;
}

// Reads "ORTE has lost communication with a remote daemon." and the connection's two ends that
// follow, such as "Remote daemon: [[35037,0],1] on node node7".
std::string lost_node_in(std::string_view stderr_text) {
  if (says_no_daemon(stderr_text)) return "";
  constexpr std::string_view kOn = " on node ";
  bool is_lost = false;
  for (const std::string_view line : lines_of(stderr_text)) {
    if (line.find("lost communication with a remote daemon") != std::string_view::npos) {
      is_lost = true;
    }
    const std::size_t at = line.find(kOn);
    if (!is_lost || !line.starts_with("Remote daemon") || at == std::string_view::npos) continue;
    return std::string(trimmed(line.substr(at + kOn.size())));
  }
  return "";
}

// Open MPI 5 has the same words for a daemon that it lost and for a daemon that never started. Only
// ranks that started print their back end.
bool says_no_daemon(std::string_view stderr_text) {
  const auto says = [&](std::string_view words) {
    return stderr_text.find(words) != std::string_view::npos;
  };
  if (says("unable to reliably start one or more daemons")) return true;
  return says("PRTE has lost communication with a remote daemon") && !says("backend ");
}

std::string reason_in(std::string_view stderr_text) {
  std::string_view own;
  std::string_view of_another;
  std::string_view in_ruler;
  std::string_view of_slurm;
  bool inside = false;
  bool at_start = false;
  for (const std::string_view line : lines_of(stderr_text)) {
    if (is_ruler(line)) {
      inside = !inside;
      at_start = inside;
    } else if (inside) {
      // The first line between the rulers says what failed, the other lines why.
      if (at_start && (in_ruler.empty() || is_no_reason(in_ruler))) in_ruler = line;
      at_start = false;
    } else if (is_slurm_line(line)) {
      if (of_slurm.empty()) of_slurm = line;
    } else if (is_of_another_rank(line)) {
      if (of_another.empty()) of_another = line;
    } else if (!is_mpirun_remark(line) && !is_no_reason(line) && !own.starts_with(kRankOfTorch)) {
      own = line;
    }
  }
  for (const std::string_view other : {of_another, in_ruler, of_slurm}) {
    if (own.empty()) own = other;
  }
  return printable(completed(own), '?');
}

std::string tail_of(std::string_view stderr_text) {
  constexpr std::size_t kMost = 4096;
  if (stderr_text.size() > kMost) {
    stderr_text.remove_prefix(stderr_text.size() - kMost);
    stderr_text.remove_prefix(std::min(stderr_text.find('\n') + 1, stderr_text.size()));
  }
  return std::string(stderr_text);
}

std::string reason_of(const ChildResult& result, std::string_view name,
                      std::chrono::seconds deadline) {
  const std::string said = reason_in(result.stderr_text);
  const std::string words = said.empty() ? "it wrote nothing to stderr" : said;
  switch (result.end) {
    case ChildResult::End::kExited:
      return said.empty() ? fmt::format("exit code {}; {}", result.code, words) : said;
    case ChildResult::End::kSignalled:
      return fmt::format(
          "killed by signal {} ({}){}{}", result.code, ::strsignal(result.code),
          result.code == SIGKILL ? ", by the kernel for want of memory if nobody sent it" : "",
          said.empty() ? "; " + words : ": " + words);
    case ChildResult::End::kTimedOut:
      // The last line of stderr is left out, since the child wrote it long before, about something
      // else.
      return fmt::format("{} was stopped after {} s without an end", name, deadline.count());
    case ChildResult::End::kNotStarted:
      return fmt::format("starting {}: {}; is it installed and in PATH?", name,
                         std::strerror(result.code));
    case ChildResult::End::kInterrupted:
      break;
  }
  return fmt::format("{} was interrupted", name);
}

}  // namespace tandem::cli
