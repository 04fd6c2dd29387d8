// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/option_check.h"

#include <algorithm>
#include <set>
#include <string>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/options/rules.h"
#include "reports/model/subject.h"

namespace tandem::cli {
namespace {

options::Values values_of(const results::Cell& cell) {
  options::Values values;
  values.give("strategy", cell.strategy);
  values.give("launch", cell.launch);
  values.give("model", cell.model);
  values.give("backend", cell.backend);
  values.give("devices", std::to_string(cell.devices));
  values.give("batch", std::to_string(cell.global_batch));
  for (const auto& [name, value] : cell.options) {
    const options::Option* const option = options::find_option(name);
    if (option == nullptr) fail(ErrorKind::kUsage, "--{} is no option of step_bench", name);
    values.give(*option, value);
  }
  return values;
}

// Whether the rules of the table say nothing of the cell: another implementation measures it, or it
// is launched as its strategy is not.
bool is_foreign(const results::Cell& cell) {
  const options::StrategyTraits* const traits = options::find_strategy(cell.strategy);
  if (!reports::implementation_of(cell).empty() || traits == nullptr) return true;
  return !traits->has_both_launches && cell.launch != name_of(traits->launch);
}

// Whether step_bench has to judge the cell's options.
bool is_asked_about(const results::Cell& cell) {
  return is_foreign(cell) || std::ranges::any_of(cell.options, [](const auto& given) {
           const options::Option* const option = options::find_option(given.first);
           return option != nullptr && option->is(options::kAsked);
         });
}

// The question that step_bench answers for the cell; cells that share a question share its answer.
std::string question_of(const results::Cell& cell) {
  // A measured model bounds the shares of a batch.
  if (checksummed_file(cell.model)) return cell.name();
  results::Cell question = cell;
  question.global_batch = 0;
  if (is_asked_about(cell)) return question.name();
  const std::string precision = cell.option("precision");
  return precision.empty() ? cell.model : cell.model + "/" + precision;
}

// Why the cell's options do not go together, as step_bench says it; "" where they do, and for a
// cell of another implementation.
std::string refusal_of_options(const results::Cell& cell) {
  if (is_foreign(cell)) return "";
  const auto error = capture_error([&] { options::check(values_of(cell)); });
  return error ? error->what() : "";
}

}  // namespace

std::string OptionCheck::refusal_of(const results::Cell& cell) {
  std::string refusal = refusal_of_options(cell);
  if (!refusal.empty()) return refusal;
  const auto [answer, is_new] = answers_.try_emplace(question_of(cell));
  if (is_new) answer->second = launcher_.refusal_of(cell, Check::kOptions);
  return answer->second;
}

void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts, std::string_view whose) {
  OptionCheck check(launcher);
  for (const results::Cell& cell : cells) {
    if (interrupts.requested()) return;
    const std::string refusal = check.refusal_of(cell);
    if (!refusal.empty()) {
      fail(ErrorKind::kUsage, "{}'s cell {}: {}", whose, cell.name(), refusal);
    }
  }
}

void check_same_work(const std::vector<results::Cell>& cells, const Launcher& own,
                     const Launcher& reference, const Interrupts& interrupts) {
  std::set<std::string> asked;
  for (const results::Cell& cell : cells) {
    if (interrupts.requested() || is_foreign(cell) || !asked.insert(cell.model).second) continue;
    const ModelWork here = own.work_of(cell);
    const ModelWork there = reference.work_of(cell);
    const bool are_known = here.parameters > 0 && there.parameters > 0;
    if (!are_known || here == there) continue;
    fail(ErrorKind::kUsage,
         "{} is another model to the reference: {} parameters and {} operations per sample there, "
         "{} and {} here; leave it out",
         cell.model, there.parameters, there.flops_per_sample, here.parameters,
         here.flops_per_sample);
  }
}

}  // namespace tandem::cli
