// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/answer/panels.h"
#include "reports/answer/trees.h"
#include "reports/answer/verdict.h"
#include "reports/tables/cells.h"
#include "reports/tables/ddp.h"
#include "reports/tables/torch.h"
#include "reports/tables/trust.h"

namespace tandem::reports {
namespace {

constexpr std::string_view kHowToReadCurves =
    "Bands are 95 % intervals over launches; a hollow point has none: a single launch, or launches "
    "that scatter so much that the interval is unbounded. Lines join measured points and say "
    "nothing in between. Dotted: the ideal. Dashed and hollow with \"modelled\" in the name: holds "
    "times that were not measured. A plus sign: an efficiency above 100 %.";

constexpr std::string_view kHowToReadPhases =
    "Mean step by phase, with its 95 % interval; the table below has medians. Bars that name no "
    "other program are Tandem's. Blue and grey are work that one device has too; warm colours and "
    "violet are what parallelism adds.";

Chart phase_chart() {
  return {.id = "phase-chart", .words = "Mean time per phase, stacked, by strategy"};
}
Chart forest_chart() {
  return {.id = "forest", .words = "Speed of ddp over speed of dp, with intervals"};
}

template <class Predicate>
bool any_cell(const Summary& summary, Predicate predicate) {
  return std::ranges::any_of(summary.cells, predicate);
}

bool has_phases(const CellSummary& cell) { return !cell.phases.empty(); }
bool has_speedup(const CellSummary& cell) { return cell.speedup.has_value(); }
bool is_measured(const CellSummary& cell) { return cell.launches > 0; }

Section choices_section(const Report& report) {
  const VerdictText& verdict = report.verdict;
  Section section(kChoices);
  const std::vector<std::string> words = first_sentences(verdict.workloads);
  section.hint.clear();  // it stands below the table, which is for the first screen
  if (verdict.choices.rows.empty()) {
    section.list(words, "verdict", kEverywhere);
  } else {
    section.add(Table{.table = verdict.choices, .caption = section.title}, kEverywhere)
        .add(verdict.steps, kAnswer)
        .say(std::string(kChoices.hint));
  }
  section.say(verdict.limits, "range", kEverywhere)
      .say(verdict.tested, "range")
      .list(verdict.breaks, "breaks");
  if (!verdict.choices.rows.empty()) {
    Section each{std::string(kInWords)};
    each.is_folded = true;
    section.add(std::move(each.list(words, "verdict")));
  }
  return section;
}

Section advice_section(const std::vector<Advice>& advice) {
  Section section(kAdvice);
  List list{.lines = {}, .kind = "advice"};
  for (const Advice& item : advice) {
    list.lines.push_back(item.text);
    list.evidence.push_back(item.evidence);
  }
  if (list.lines.empty()) return section;
  const auto next = std::ranges::find(advice, false, &Advice::is_fact);
  if (next != advice.end()) section.say("Next: " + next->text, "hint", kAnswer);
  return section.add(std::move(list));
}

Section scaling_section(const std::vector<Panel>& panels) {
  Section section(kScaling);
  Chart chart{.id = "scaling-chart", .words = "Scaling curves of all strategies"};
  for (const Panel& panel : panels) {
    chart.sources.push_back({.title = panel.title, .note = panel.note});
  }
  return section.say(std::string(kHowToReadCurves), "hint", kPage).add(std::move(chart), kPage);
}

// The panels of the page, a table each.
Section sources_section(const std::vector<Panel>& panels) {
  Section section(kSources);
  std::vector<TextTable> tables = panel_tables(panels);
  for (std::size_t at = 0; at < panels.size(); ++at) {
    if (tables[at].rows.empty()) continue;
    Section panel(panels[at].title);
    panel.say(panels[at].note, "hint", kMarkdown);  // the page has it below the chart
    section.add(
        std::move(panel.add(Table{.table = std::move(tables[at]), .caption = panels[at].title})));
  }
  return section;
}

Section report_scaling(const Report& report) {
  const Summary& summary = report.summary;
  const std::vector<Panel> panels = panels_of(report);
  Section section = any_cell(summary, is_measured) ? scaling_section(panels) : Section(kScaling);
  if (any_cell(summary, is_measured) && !any_cell(summary, has_speedup)) {
    section.say("No baseline: single was not measured here, so that there is no speed-up.", "hint",
                kPage);
  }
  Section cells(kCells);
  cells.add(Table{.table = cell_table(summary), .caption = cells.title, .is_folded = true});
  return section.add(std::move(cells)).add(sources_section(panels));
}

Section ladders_section(const std::vector<Explanation>& explanations) {
  Section section(kLadderOfCauses);
  for (const Explanation& explanation : explanations) {
    const GapQuestion& question = explanation.question;
    Section point = tree_of(explanation);
    point.id.clear();
    std::get<Section>(point.blocks.back().content).is_folded = true;
    point.title =
        fmt::format("{}, batch {}, {} devices", question.model, question.batch, question.devices);
    section.add(std::move(point));
  }
  return section;
}

Section gap_section(const Report& report) {
  const Summary& summary = report.summary;
  Section section(kGap);
  section.add(ladders_section(report.explanations))
      .table(kPhaseTimes, phase_table(summary))
      .table(kCosts, ddp_cost_table(summary))
      .table(kHostWork, host_work_table(summary));
  Heading twin = twin_heading(summary);
  twin.hint = {};
  return section.table(twin, twin_table(summary), twin_note(summary));
}

void add_forest(Section& section, std::size_t comparisons) {
  section.add(forest_chart(), kPage);
  if (comparisons <= kMostCharted) return;
  section.say(fmt::format("The chart has {} of {} comparisons, those on the most devices.",
                          kMostCharted, comparisons),
              "hint", kPage);
}

Section comparisons_section(const Summary& summary) {
  Section section(kComparisons);
  if (summary.comparisons.empty()) return section.say(std::string(kNoComparison));
  add_forest(section, summary.comparisons.size());
  return section.add(
      Table{.table = comparison_table(summary), .caption = section.title, .is_folded = true});
}

Section details_section(const Summary& summary) {
  Section section(kDetails);
  return section.table(kMemory, memory_table(summary))
      .table(kEnergy, energy_table(summary))
      .table(kCollectives, collective_table(summary));
}

Section reproduce_section(const results::SweepInfo& sweep) {
  Section section(kReproduce);
  section.add(Code{reproduce_commands(sweep)});
  if (sweep.definition.empty()) return section;
  Section all{"All that decides what was measured (a sweep file is made from it)"};
  all.is_folded = true;
  return section.add(std::move(all.add(Code{{sweep.definition}})), kPage);
}

Section trust_section(const Report& report) {
  const results::SweepInfo& sweep = report.document.sweep;
  Section section(kTrust);
  Section dropped(kDropped);
  section.list({remainder_line(report.summary)})
      .table(kWithout, failures_table(report.summary))
      .add(std::move(dropped.list(dropped_lines(sweep))))
      .table(kOthers, other_figures_table(report.document));
  std::vector<std::string> facts;
  for (const auto& [name, value] : machine_lines(report)) facts.push_back(name + ": " + value);
  Section machine(kMachine);
  section.add(std::move(machine.list(facts)));
  Section method(kMethod);
  return section.add(reproduce_section(sweep)).add(std::move(method.list(method_lines(report))));
}

}  // namespace

Section tree_of(const Report& report) {
  const results::SweepInfo& sweep = report.document.sweep;
  const VerdictText& verdict = report.verdict;
  Section root(verdict.subject);
  root.say(fmt::format("Tandem, sweep {}, {}", sweep.name, sweep.context.date), "eyebrow", kPage)
      .say(verdict.overall, "overall", kEverywhere)
      .say(verdict.slower, "overall");
  if (any_cell(report.summary, has_phases)) {
    root.add(phase_chart(), kPage).say(std::string(kHowToReadPhases), "hint", kPage);
  }
  root.add(choices_section(report), kEverywhere);
  Section warnings(kWarnings);
  root.add(std::move(warnings.list(verdict.notes, "notes", kEverywhere)), kEverywhere);
  return root.add(advice_section(report.advice), kEverywhere)
      .add(report_scaling(report))
      .add(gap_section(report))
      .add(comparisons_section(report.summary))
      .add(details_section(report.summary))
      .add(trust_section(report));
}

}  // namespace tandem::reports
