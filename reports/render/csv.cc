// SPDX-License-Identifier: Apache-2.0
#include "reports/render/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "common/options/strategies.h"
#include "reports/model/communication.h"
#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/tables/cells.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

// The fields joined by commas, quoted where RFC 4180 asks for quotes, with one line end, LF.
std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) row += ',';
    const bool is_plain = field.find_first_of(",\"\r\n") == std::string::npos;
    row += is_plain ? field : csv_quoted(field);
  }
  return row + "\n";
}

// Nine digits: more than any computed figure in a report means, and the same on machines whose
// mathematics libraries differ in a double's last digit.
std::string csv_figure(double value) { return fmt::format("{:.9g}", value); }

// The options as "dispatch-cost=8us grads=views"; empty without options.
std::string options_column(const results::Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options) parts.push_back(name + "=" + value);
  return join(parts, " ");
}

// The columns that name a cell, the same in every file, so that a reader can join the files' rows.
constexpr std::string_view kCellColumns =
    "model,global_batch,devices,strategy,launch,backend,mode,options";

std::vector<std::string> cell_columns(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  return {cell.model,
          std::to_string(cell.global_batch),
          std::to_string(cell.devices),
          cell.strategy,
          cell.launch,
          cell.backend,
          summary.mode,
          options_column(cell)};
}

// The marks that keep a cell off a curve of measured times, and the cell's fields of these columns.
constexpr std::string_view kMarkColumns = "modelled,planted,oversubscribed";

std::vector<std::string> mark_columns(const CellSummary& summary) {
  return {summary.modelled, summary.planted, summary.oversubscribed ? "1" : "0"};
}

constexpr std::string_view kFigureColumns =
    "status,reason,marks,launches,failed_launches,samples,median_step_s,median_step_low_s,"
    "median_step_high_s,mean_step_s,mean_step_low_s,mean_step_high_s,throughput_per_s,"
    "throughput_low_per_s,throughput_high_per_s,baseline,speedup,speedup_low,speedup_high,"
    "efficiency,remainder_share,independent_share,independent_share_low,independent_share_high,"
    "missing_s,missing_low_s,missing_high_s,exposed_transfer_s,exposed_transfer_low_s,"
    "exposed_transfer_high_s,skew_s,skew_low_s,skew_high_s,contention_s,contention_low_s,"
    "contention_high_s,bucket_copies_s,bucket_copies_low_s,bucket_copies_high_s,rest_s,rest_low_s,"
    "rest_high_s,buckets,gradient_bytes,collectives_s,collectives_low_s,collectives_high_s,"
    "exposed_s,exposed_low_s,exposed_high_s,hidden_share,hidden_share_low,hidden_share_high,"
    "precision,device_gflops,peak_gflops,peak_share,efficiency_low,efficiency_high,drift,"
    "weak_efficiency,weak_efficiency_low,weak_efficiency_high,peak_device0_bytes,"
    "peak_others_bytes,remainder_s";

// The phases have fixed names; the last column sums up phases of other names.
std::string header() {
  std::string text = fmt::format("{},{}", kCellColumns, kFigureColumns);
  for (const std::string_view phase : step_phases()) text += fmt::format(",phase_{}_s", phase);
  return text +
         ",phases_of_other_names_s,joules_per_step,joules_per_step_low,joules_per_step_high,"
         "joules_per_sample,disturbed_launches\n";
}

// Adds a figure and the ends of its interval; an end below `least`, or unbounded, is empty.
void add_estimate(std::vector<std::string>& fields, const stats::Estimate* estimate,
                  double least = 0) {
  const bool known = estimate != nullptr && estimate->interval;
  const auto end = [&](double stats::Interval::*which) {
    const double value = known ? *estimate->interval.*which : NAN;
    return value >= least && std::isfinite(value) ? csv_figure(value) : std::string();
  };
  fields.push_back(estimate != nullptr ? csv_figure(estimate->center) : "");
  fields.push_back(end(&stats::Interval::low));
  fields.push_back(end(&stats::Interval::high));
}

// Both ends of a difference or of a share may be below zero.
constexpr double kNoLeast = -std::numeric_limits<double>::infinity();

void add_cost(std::vector<std::string>& fields, const DdpCost* cost) {
  add_estimate(fields, cost != nullptr ? &cost->share : nullptr);
  add_estimate(fields, cost != nullptr ? &cost->missing : nullptr, kNoLeast);
  const bool known = cost != nullptr && cost->parts;
  for (const auto part : kCostParts) {
    add_estimate(fields, known ? &(*cost->parts.*part) : nullptr, kNoLeast);
  }
}

void add_collectives(std::vector<std::string>& fields, const CommunicationTimes* times) {
  const bool known = times != nullptr;
  fields.push_back(known ? std::to_string(times->bucket_bytes.size()) : "");
  fields.push_back(known ? std::to_string(times->size_bytes()) : "");
  add_estimate(fields, known ? &times->total : nullptr);
  add_estimate(fields, known ? &times->exposed : nullptr);
  add_estimate(fields, known && times->hidden_share ? &*times->hidden_share : nullptr, kNoLeast);
}

void add_flops(std::vector<std::string>& fields, const CellSummary& summary) {
  const auto text = [](std::optional<double> value) {
    return value ? csv_figure(*value) : std::string();
  };
  fields.push_back(precision_of(summary.cell));
  fields.push_back(text(summary.device_gflops()));
  fields.push_back(summary.peak_gflops > 0 ? text(summary.peak_gflops) : "");
  fields.push_back(text(summary.peak_share()));
}

// New columns stand after the older columns, which keep their places.
void add_late_columns(std::vector<std::string>& fields, const CellSummary& summary) {
  const std::optional<stats::Estimate> efficiency = summary.efficiency();
  const bool known = efficiency && efficiency->interval;
  fields.push_back(known ? csv_figure(efficiency->interval->low) : "");
  fields.push_back(known ? csv_figure(efficiency->interval->high) : "");
  fields.push_back(summary.drift ? csv_figure(summary.drift->change) : "");
}

// Adds the root's peak memory, and the largest of the other devices.
void add_memory(std::vector<std::string>& fields, const CellSummary& summary) {
  const std::vector<std::int64_t> peaks = peak_memory(summary);
  fields.push_back(peaks.empty() ? "" : std::to_string(peaks.front()));
  fields.push_back(
      peaks.size() < 2 ? "" : std::to_string(*std::max_element(peaks.begin() + 1, peaks.end())));
}

// Adds a field per phase; empty where the cell does not have the phase.
void add_phases(std::vector<std::string>& fields, const CellSummary& summary) {
  const std::span<const std::string_view> names = step_phases();
  std::vector<std::string> times(names.size());
  double others = 0;
  for (const PhaseMean& phase : summary.phases) {
    const auto found = std::ranges::find(names, phase.name);
    if (found == names.end()) {
      others += phase.seconds;
    } else {
      times[static_cast<std::size_t>(found - names.begin())] = csv_figure(phase.seconds);
    }
  }
  fields.push_back(summary.phases.empty() ? "" : csv_figure(summary.remainder_seconds));
  fields.insert(fields.end(), times.begin(), times.end());
  fields.push_back(others == 0 ? "" : csv_figure(others));
}

void add_energy(std::vector<std::string>& fields, const CellSummary& summary) {
  const auto& energy = summary.joules_per_step;
  add_estimate(fields, energy ? &*energy : nullptr);
  const auto batch = static_cast<double>(summary.cell.global_batch);
  fields.push_back(energy ? csv_figure(energy->center / batch) : "");
}

template <class Found, class IsOf>
const Found* find_of(const std::vector<Found>& list, IsOf is_of) {
  const auto found = std::ranges::find_if(list, is_of);
  return found == list.end() ? nullptr : &*found;
}

// "none" where a baseline is missing; empty for single, and for cells that did not measure.
std::string baseline_text(const CellSummary& summary) {
  if (summary.speedup) return "single";
  return summary.launches > 0 && summary.cell.strategy != name_of(kSingle) ? "none" : "";
}

std::vector<std::string> cell_fields(const CellSummary& summary) {
  const bool measured = summary.launches > 0;
  std::vector<std::string> fields = cell_columns(summary);
  fields.insert(fields.end(),
                {std::string(to_string(summary.status)), summary.reason,
                 join(marks_of(summary), "; "), std::to_string(summary.launches),
                 std::to_string(summary.failed_launches), std::to_string(summary.samples)});
  add_estimate(fields, measured ? &summary.median_step : nullptr);
  add_estimate(fields, measured ? &summary.mean_step : nullptr);
  add_estimate(fields, measured && !summary.cell.is_pretended() ? &summary.throughput : nullptr);
  fields.emplace_back(baseline_text(summary));
  add_estimate(fields, summary.speedup ? &*summary.speedup : nullptr);
  fields.push_back(summary.speedup ? csv_figure(summary.efficiency()->center) : "");
  fields.push_back(summary.phases.empty() ? "" : csv_figure(summary.remainder_share()));
  return fields;
}

std::string planted_in(const StrategyPair& pair) {
  std::vector<std::string> parts;
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!cell->planted.empty()) parts.push_back(cell->cell.strategy + " " + cell->planted);
  }
  return join(parts, "; ");
}

std::vector<std::string> fields_of(const StrategyPair& pair) {
  const results::Cell& dp = pair.dp->cell;
  const results::Cell& ddp = pair.ddp->cell;
  std::vector<std::string> fields{dp.model,
                                  std::to_string(dp.global_batch),
                                  std::to_string(dp.devices),
                                  dp.backend,
                                  pair.dp->mode,
                                  dp.launch,
                                  options_column(dp),
                                  ddp.launch,
                                  options_column(ddp),
                                  pair.dp->modelled,
                                  planted_in(pair),
                                  pair.dp->oversubscribed || pair.ddp->oversubscribed ? "1" : "0",
                                  csv_figure(pair.dp->median_step.center),
                                  csv_figure(pair.ddp->median_step.center)};
  add_estimate(fields, &pair.ddp_speed, kNoLeast);
  fields.insert(fields.end(),
                {std::to_string(pair.dp->launches), std::to_string(pair.ddp->launches),
                 std::string(to_string(pair.ddp_verdict)),
                 pair.equal_within ? csv_figure(*pair.equal_within) : ""});
  return fields;
}

constexpr std::size_t kPartBytes = std::size_t{1} << 16;

// Appends the fewest digits that read back as the same number, without a stream, since there are
// millions of samples.
template <class Number>
void append(std::string& text, Number value) {
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), written.ptr);
}

// The columns before a sample's number.
std::string launch_part(const CellSummary& cell, const results::LaunchRecord& record) {
  std::vector<std::string> fields = cell_columns(cell);
  for (std::string& mark : mark_columns(cell)) fields.push_back(std::move(mark));
  fields.push_back(std::to_string(record.launch_index));
  std::string part = csv_row(fields);
  part.back() = ',';
  return part;
}

}  // namespace

std::string to_csv(const Summary& summary) {
  const std::vector<DdpCost> costs = ddp_costs(summary);
  const std::vector<CommunicationTimes> collectives = communication_times(summary);
  std::string text = header();
  for (const CellSummary& cell : summary.cells) {
    std::vector<std::string> fields = cell_fields(cell);
    add_cost(fields, find_of(costs, [&](const DdpCost& cost) { return cost.ddp == &cell; }));
    add_collectives(fields, find_of(collectives, [&](const CommunicationTimes& times) {
                      return times.cell == &cell;
                    }));
    add_flops(fields, cell);
    add_late_columns(fields, cell);
    add_estimate(fields, cell.weak_efficiency ? &*cell.weak_efficiency : nullptr);
    add_memory(fields, cell);
    add_phases(fields, cell);
    add_energy(fields, cell);
    fields.push_back(std::to_string(cell.disturbed_launches));
    text += csv_row(fields);
  }
  return text;
}

std::string to_comparisons_csv(const Summary& summary) {
  std::string text = fmt::format(
      "model,global_batch,devices,backend,mode,dp_launch,dp_options,ddp_launch,ddp_options,{},"
      "dp_median_step_s,ddp_median_step_s,ddp_speed,ddp_speed_low,ddp_speed_high,dp_launches,"
      "ddp_launches,ddp_is,equal_within\n",
      kMarkColumns);
  for (const StrategyPair& pair : summary.comparisons) text += csv_row(fields_of(pair));
  return text;
}

void write_samples_csv(const results::TextSink& sink, const Summary& summary) {
  std::string text = fmt::format("{},{},launch_index,sample,step_s\n", kCellColumns, kMarkColumns);
  for (const CellSummary& cell : summary.cells) {
    for (const results::LaunchRecord* record : cell.measured) {
      const std::string before = launch_part(cell, *record);
      for (std::size_t sample = 0; sample < record->step_seconds.size(); ++sample) {
        text += before;
        append(text, sample);
        text += ',';
        append(text, record->step_seconds[sample]);
        text += '\n';
        if (text.size() < kPartBytes) continue;
        sink(text);
        text.clear();
      }
    }
  }
  sink(text);
}

}  // namespace tandem::reports
