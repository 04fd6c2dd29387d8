// SPDX-License-Identifier: Apache-2.0
#include "reports/model/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/model/implementation.h"

namespace tandem::reports {
namespace {

int rank_of(const CellSummary& cell) {
  if (cell.cell.strategy == "ddp") return 3;
  if (cell.cell.strategy == "dp") return 2;
  return cell.cell.strategy == "single" ? 0 : 1;
}

// The cell of Tandem's own that readers ask about most.
const CellSummary* chosen(const Summary& summary) {
  const CellSummary* best = nullptr;
  const auto key = [](const CellSummary& cell) {
    return std::pair(rank_of(cell), cell.cell.devices);
  };
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || !implementation_of(cell.cell).empty()) continue;
    if (best == nullptr || key(cell) > key(*best)) best = &cell;
  }
  return best;
}

bool says_how_to_time(const std::string& option) {
  constexpr std::array<std::string_view, 5> kOptions{"check-numerics", "fault", "free-running",
                                                     "phases", "plant"};
  return std::find(kOptions.begin(), kOptions.end(), option) != kOptions.end();
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted{'\''};
  for (const char c : text) {
    if (c == '\'') quoted.append("'\\'");
    quoted.push_back(c);
  }
  quoted.push_back('\'');
  return quoted;
}

std::string bench_command(const Summary& summary) {
  const CellSummary* cell = chosen(summary);
  if (cell == nullptr) return "";
  const results::Cell& what = cell->cell;
  std::string command;
  if (what.launch == "processes" && what.devices > 1) {
    command = fmt::format("mpirun -np {} --bind-to none ", what.devices);
  }
  command += fmt::format("step_bench --strategy={} {} --devices={} --batch={} --backend={}",
                         shell_word(what.strategy), shell_word("--model=" + what.model),
                         what.devices, what.global_batch, shell_word(what.backend));
  if (what.strategy == "independent")
    command += fmt::format(" --launch={}", shell_word(what.launch));
  for (const auto& [name, value] : what.options) {
    if (!says_how_to_time(name))
      command += fmt::format(" {}", shell_word(fmt::format("--{}={}", name, value)));
  }
  return command;
}

}  // namespace tandem::reports
