// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/dispatch_costs.h"
#include "common/base/text.h"
#include "common/options/values.h"
#include "common/stats/comparison.h"
#include "reports/answer/trees.h"
#include "reports/model/explanation.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

std::string modelled_prefix(const GapQuestion& question) {
  return question.simulated.empty() ? "" : "Projected: ";
}

// What is trained: a user's module beside its export, by the names that cells have.
std::string trained_text(const GapQuestion& question) {
  if (question.module.empty()) return question.model;
  return fmt::format("{}, of which Tandem trains the export {}", question.module, question.model);
}

// How the figures are read.
std::string figures_text(const Explanation& explanation) {
  if (!explanation.question.simulated.empty()) {
    return "Milliseconds per step, and their differences, without intervals, as simulations "
           "repeat; tandem project says how far they are from measurements.";
  }
  return "Milliseconds per step: means of launch means, their differences with 95 % intervals "
         "(round by round).";
}

// The question, which follows the hardware and precedes the answer.
std::string question_text(const Explanation& explanation) {
  const GapQuestion& question = explanation.question;
  std::string text = fmt::format("{}, batch {}, {}, {}", trained_text(question), question.batch,
                                 count_text(question.devices, "device"),
                                 question.simulated.empty()
                                     ? count_text(explanation.launches, "launch") + " per rung"
                                     : "each rung simulated once");
  if (question.precision != "fp32") text += ", in " + question.precision;
  if (const std::string optimizer = named_optimizer(question); !optimizer.empty()) {
    text += ", optimizer " + optimizer;
  }
  if (question.input != "host") text += ", input from " + question.input + " memory";
  if (!question.plant.empty()) text += ", with a planted delay (" + question.plant + ")";
  return text + ".";
}

std::string answer_text(const Explanation& explanation) {
  const Figure& gap = explanation.stock_gap;
  const Figure& dp = explanation.ladder.front().mean_step;
  if (!gap.seconds) return "dp against ddp as torch has it: no figure, for " + gap.missing + ".";
  const char* verdict = !has_sign(gap)            ? "dp against ddp is not resolved"
                        : gap.seconds->center > 0 ? "ddp is faster"
                                                  : "dp is faster";
  return fmt::format(
      "{}{}: dp takes {} ms, ddp as torch has it {} ms; the gap, dp minus ddp, is {} ms, {:.0f} % "
      "of dp's step.",
      gap.is_projected ? "Projected: " : "", verdict, milliseconds_text(dp),
      milliseconds_text(explanation.stock_mean_step), milliseconds_text(gap),
      100 * gap.seconds->center / dp.seconds->center);
}

// The step of the ladder that saves most, of those whose sign is known.
std::string cause_text(const Explanation& explanation) {
  const Step* most = nullptr;
  for (const Step& step : explanation.ladder) {
    if (!step.saves.seconds || !has_sign(step.saves) || step.saves.seconds->center <= 0) continue;
    if (most == nullptr || step.saves.seconds->center > most->saves.seconds->center) most = &step;
  }
  if (most == nullptr) return "No cause that slows dp is resolved.";
  return fmt::format("The largest {}cause: \"{}\" makes dp's step {} ms shorter.",
                     most->saves.is_projected ? "" : "resolved ", most->label,
                     milliseconds_text(most->saves));
}

// What the figures advise to do.
std::string next_text(const Explanation& explanation) {
  const Figure& views = explanation.stock;
  if (views.seconds && has_sign(views) && views.seconds->center > 0) {
    return fmt::format(
        "Next: --grads=views (torch: gradient_as_bucket_view=True) saves ddp {} ms a step.",
        milliseconds_text(views));
  }
  return has_sign(explanation.stock_gap) ? "Next: --details shows each cause with its interval."
                                         : "Next: more --launches narrow the intervals.";
}

// The step of each rung, of ddp as torch has it, and of the bound.
Bars rung_bars(const Explanation& explanation) {
  Bars bars{.caption = "Mean step, one cause less from line to line:"};
  const auto add = [&](const std::string& label, const Figure& figure) {
    if (!figure.seconds) return;
    const double seconds = figure.seconds->center;
    bars.bars.push_back({.label = label, .length = seconds, .figure = duration_text(seconds)});
  };
  for (const Step& step : explanation.ladder) {
    add((bars.bars.empty() ? "" : "+ ") + step.label, step.mean_step);
  }
  add("ddp as torch has it", explanation.stock_mean_step);
  const auto& ddp = explanation.stock_mean_step.seconds;
  const auto& cost = explanation.own_cost.seconds;
  if (!ddp || !cost) return bars;
  const double bound = ddp->center - cost->center;
  bars.bars.push_back({.label = kNoCommunication, .length = bound, .figure = duration_text(bound)});
  return bars;
}

double largest_effect(const std::vector<Step>& steps) {
  double largest = 0;
  for (const Step& step : steps) {
    if (step.saves.seconds) largest = std::max(largest, std::abs(step.saves.seconds->center));
  }
  return largest;
}

// The step to the all-reduce has no switch of its own, so the remark points to its phases.
std::string step_remark(const Step& step, const Rung rung) {
  std::string text = remark(step.saves);
  if (rung == Rung::kAllReduce) text += text.empty() ? "by phase below" : ", by phase below";
  return text;
}

// A section of the explanation: its table, if that has rows, and lines below it.
Section with_table(std::string title, TextTable table, const std::vector<std::string>& lines) {
  Section section(std::move(title));
  if (!table.rows.empty()) {
    section.add(Table{.table = std::move(table), .caption = "From dp to ddp"});
  }
  return section.list(lines);
}

Section ladder_section(const Explanation& explanation) {
  TextTable table({"rung", ">takes, ms [95 %]", ">saves, ms [95 %]", "", "remark"});
  const double full = largest_effect(explanation.ladder);
  for (std::size_t i = 0; i < explanation.ladder.size(); ++i) {
    const Step& step = explanation.ladder[i];
    const std::string takes = milliseconds_text(step.mean_step);
    if (i == 0) {
      table.rows.push_back({step.label, takes, "", "", ""});
      continue;
    }
    table.rows.push_back({"+ " + step.label, takes, milliseconds_text(step.saves),
                          bar(step.saves, full), step_remark(step, kLadder[i])});
  }
  table.rows.push_back({"dp to the ladder's end", "", milliseconds_text(explanation.gap), "",
                        remark(explanation.gap)});
  std::vector<std::string> lines{
      fmt::format("Bars: # saves time, - costs time, ~ {}. The steps sum to the gap by arithmetic; "
                  "that is no evidence for any of them.",
                  explanation.gap.is_projected ? "does neither" : "is not resolved"),
      fmt::format("ddp as torch has it against the ladder's end (gradients copied, not views), {} "
                  "apart: {}.",
                  explanation.stock.is_projected ? "simulated" : "measured",
                  judged(explanation.stock))};
  if (explanation.question.simulated.contains("dispatch-cost")) {
    lines.emplace_back(
        "The rungs of dp share one interpreter; the step to the all-reduce takes "
        "its lock away too, as its threads have none.");
  }
  return with_table(modelled_prefix(explanation.question) +
                        "The ladder from dp to ddp --grads=views, one cause at a time",
                    std::move(table), lines);
}

std::string range_remark(const RemovalRange& range) {
  std::string first = remark(range.first);
  const std::string last = remark(range.last);
  if (first == last) return first;
  if (first.empty()) return "last: " + last;
  if (last.empty()) return "first: " + first;
  return "first: " + first + ", last: " + last;
}

Section range_section(const Explanation& explanation) {
  TextTable table(
      {"cause", ">removed first saves, ms [95 %]", ">removed last saves, ms [95 %]", "remark"});
  for (const RemovalRange& range : explanation.ranges) {
    table.rows.push_back({range.cause, milliseconds_text(range.first),
                          milliseconds_text(range.last), range_remark(range)});
  }
  return with_table(
      modelled_prefix(explanation.question) + "What a cause is worth depends on what else is there",
      std::move(table),
      {"First: from the top of its family (dp; the all-reduce in threads with one bucket) it alone "
       "is removed. Last: put back alone at the family's end, it costs so much.",
       "Interaction, the gap minus all causes removed first (the step to the all-reduce as the "
       "ladder has it): " +
           judged(explanation.interaction) + "."});
}

TextTable effects_table(const std::vector<Effect>& effects, const std::string& column) {
  TextTable table({"cause", column, "remark"});
  for (const Effect& effect : effects) {
    table.rows.push_back({effect.cause, milliseconds_text(effect.figure), remark(effect.figure)});
  }
  return table;
}

Section replication_section(const Explanation& explanation) {
  return with_table(
      modelled_prefix(explanation.question) + "Replication, reduction, root update, by phase",
      effects_table(explanation.replication, ">saves, ms [95 %]"),
      {explanation.replication.empty()
           ? "No figure: phases of one of the two rungs were not timed."
           : "By phase: differences of the critical devices' phase means (dp: device 0; "
             "all-reduce: the slowest), not of runs in which one thing was switched. They sum to "
             "the step."});
}

Section own_cost_section(const Explanation& explanation) {
  std::vector<std::string> lines{fmt::format("ddp as torch has it minus {}, processes: {}.",
                                             kNoCommunication, judged(explanation.own_cost))};
  if (explanation.own_costs.empty()) {
    lines.emplace_back("Its parts have no figure: phases were not timed or a rung is missing.");
  }
  return with_table(
      modelled_prefix(explanation.question) + "What ddp itself costs, against the bound",
      effects_table(explanation.own_costs, ">takes, ms [95 %]"), lines);
}

std::string interpreter_text(const std::string& costs) {
  if (!has_dispatch_kinds(costs)) {
    return "an interpreter that takes " + costs + " per dispatched call";
  }
  return "work on the host that takes " + costs;
}

Section modelled_section(const Explanation& explanation) {
  const GapQuestion& question = explanation.question;
  std::vector<std::string> lines;
  for (const auto& [label, count] : explanation.dispatches) {
    lines.push_back(fmt::format("{}: {:.1f} dispatches per step", label, count));
  }
  if (!question.interpreter_lock) {
    lines.emplace_back("The lock's own effect is measured with --interpreter-lock.");
  }
  return with_table(
      "Modelled, no part of the measured gap: " + interpreter_text(question.dispatch_cost),
      effects_table(explanation.modelled, ">adds, ms [95 %]"), lines);
}

std::string ratio_remark(const Agreement& end) {
  if (!end.ratio) return end.missing;
  return stats::judge(*end.ratio) == stats::Verdict::kNotResolved ? "no difference resolved" : "";
}

// Where the optimizer is not Tandem's, both sides' updates differ.
std::string optimizer_text(const GapQuestion& question) {
  const std::vector<std::string_view> known = options::choices_of("optimizer");
  if (question.optimizer.empty() || std::ranges::find(known, question.optimizer) != known.end()) {
    return "";
  }
  return fmt::format(
      "The module's optimizer is {}, which Tandem lacks: its rungs take {}, so every ratio holds "
      "the difference of the two updates.",
      question.optimizer, known.front());
}

Section agreement_section(const Explanation& explanation) {
  const GapQuestion& question = explanation.question;
  TextTable table({"end", fmt::format(">{}, median step [95 %]", question.implementation),
                   ">Tandem, median step [95 %]", ">ratio [95 %]", "remark"});
  std::vector<std::string> lines;
  for (const Agreement& end : explanation.agreement) {
    table.rows.push_back({end.end, end.ratio ? duration_text(end.theirs) : "-",
                          end.ratio ? duration_text(end.ours) : "-",
                          end.ratio ? ratio_text(*end.ratio) : "no figure", ratio_remark(end)});
  }
  if (const std::optional<double> factor = farthest_apart(explanation.agreement)) {
    lines.push_back(fmt::format(
        "All ends agree within a factor of {:.2f}, the farther ends of the intervals included.",
        *factor));
  } else {
    lines.emplace_back("How far all ends agree has no figure: an end has no interval.");
  }
  lines.emplace_back(
      "The ratio of single compares the kernels; that of ddp and dp holds the wrapper, its hooks "
      "and the collectives as well. The rungs between explain the other implementation as far as "
      "both ends agree.");
  if (const std::string text = optimizer_text(question); !text.empty()) lines.push_back(text);
  return with_table(fmt::format("How far {} and Tandem{} agree", question.implementation,
                                question.module.empty() ? "" : " on the module's export"),
                    std::move(table), lines);
}

// The cell of each rung, so that a reader can run any rung by hand.
Section cells_section(const Explanation& explanation) {
  const bool is_projected = !explanation.question.simulated.empty();
  TextTable table({"rung", ">launches", "cell"});
  for (const Step& step : explanation.ladder) {
    const std::string failed =
        step.failed_launches == 0 ? "" : fmt::format(" ({} failed)", step.failed_launches);
    const std::string disturbed =
        step.disturbed_launches == 0 ? "" : fmt::format(" ({} disturbed)", step.disturbed_launches);
    table.rows.push_back(
        {step.label, std::to_string(step.launches) + disturbed + failed, step.cell});
  }
  return with_table(is_projected ? "The rungs as simulated" : "The rungs as measured",
                    std::move(table), {});
}

}  // namespace

Section tree_of(const Explanation& explanation) {
  const bool says_so = explanation.subject.starts_with("Projected");
  Section root((says_so ? "" : modelled_prefix(explanation.question)) + explanation.subject);
  root.id = kLadderOfCauses.id;
  root.say(question_text(explanation), "hint", kEverywhere)
      .say(answer_text(explanation), "overall", kEverywhere)
      .say(cause_text(explanation), "overall", kEverywhere)
      .add(rung_bars(explanation), kAnswer)
      .say(next_text(explanation), "hint", kAnswer)
      .say(figures_text(explanation));
  root.add(ladder_section(explanation));
  Section behind{std::string("What stands behind the ladder")};
  behind.add(replication_section(explanation))
      .add(range_section(explanation))
      .add(own_cost_section(explanation));
  if (!explanation.modelled.empty()) behind.add(modelled_section(explanation));
  if (!explanation.agreement.empty()) behind.add(agreement_section(explanation));
  behind.add(cells_section(explanation));
  if (!explanation.notes.empty()) {
    behind.add(std::move(Section(std::string("Beside it")).list(explanation.notes)));
  }
  return root.add(std::move(behind));
}

}  // namespace tandem::reports
