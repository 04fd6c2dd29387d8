// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "reports/collectives.h"
#include "reports/ddp_cost.h"
#include "reports/dropped.h"
#include "reports/format.h"
#include "reports/modelled.h"

namespace tandem::reports {
namespace {

constexpr std::string_view kHeader =
    "model,global_batch,devices,strategy,launch,backend,mode,options,"
    "status,reason,marks,launches,failed_launches,samples,"
    "median_step_s,median_step_low_s,median_step_high_s,"
    "mean_step_s,mean_step_low_s,mean_step_high_s,"
    "throughput_per_s,throughput_low_per_s,throughput_high_per_s,"
    "baseline,speedup,speedup_low,speedup_high,efficiency,remainder_share,"
    "independent_share,independent_share_low,independent_share_high,"
    "missing_s,missing_low_s,missing_high_s,"
    "exposed_transfer_s,exposed_transfer_low_s,exposed_transfer_high_s,"
    "skew_s,skew_low_s,skew_high_s,contention_s,contention_low_s,contention_high_s,"
    "bucket_copies_s,bucket_copies_low_s,bucket_copies_high_s,rest_s,rest_low_s,rest_high_s,"
    "buckets,gradient_bytes,collectives_s,collectives_low_s,collectives_high_s,"
    "exposed_s,exposed_low_s,exposed_high_s,"
    "hidden_share,hidden_share_low,hidden_share_high,"
    "precision,device_gflops,peak_gflops,peak_share,"
    "efficiency_low,efficiency_high,drift,modes,steps_in_modes\n";

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string doubled;
  for (const char c : text) doubled.append(c == '"' ? 2U : 1U, c);
  return fmt::format("\"{}\"", doubled);
}

void add_estimate(std::vector<std::string>& fields, const stats::Estimate* estimate) {
  fields.push_back(estimate != nullptr ? fmt::format("{}", estimate->center) : "");
  const bool known = estimate != nullptr && estimate->interval;
  const auto end = [](double value) {
    return value >= 0 && std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  fields.push_back(known ? end(estimate->interval->low) : "");
  fields.push_back(known ? end(estimate->interval->high) : "");
}

// Of a difference or a share, either end of which may be below zero.
void add_signed(std::vector<std::string>& fields, const stats::Estimate* estimate) {
  const bool known = estimate != nullptr && estimate->interval;
  fields.push_back(estimate != nullptr ? fmt::format("{}", estimate->center) : "");
  fields.push_back(known ? fmt::format("{}", estimate->interval->low) : "");
  fields.push_back(known ? fmt::format("{}", estimate->interval->high) : "");
}

void add_cost(std::vector<std::string>& fields, const DdpCost* cost) {
  add_estimate(fields, cost != nullptr ? &cost->share : nullptr);
  add_signed(fields, cost != nullptr ? &cost->missing : nullptr);
  const bool known = cost != nullptr && cost->parts;
  const OwnCosts parts = known ? *cost->parts : OwnCosts{};
  for (const stats::Estimate* part : {&parts.exposed_transfer, &parts.skew, &parts.contention,
                                      &parts.bucket_copies, &parts.rest}) {
    add_signed(fields, known ? part : nullptr);
  }
}

void add_collectives(std::vector<std::string>& fields, const CollectiveTimes* times) {
  const bool known = times != nullptr;
  fields.push_back(known ? std::to_string(times->buckets.size()) : "");
  fields.push_back(known ? std::to_string(times->bytes()) : "");
  add_estimate(fields, known ? &times->total : nullptr);
  add_estimate(fields, known ? &times->exposed : nullptr);
  add_signed(fields, known && times->hidden_share ? &*times->hidden_share : nullptr);
}

void add_flops(std::vector<std::string>& fields, const CellSummary& summary) {
  const auto text = [](std::optional<double> value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  fields.push_back(precision_of(summary.cell));
  fields.push_back(text(summary.device_gflops()));
  fields.push_back(summary.peak_gflops > 0 ? text(summary.peak_gflops) : "");
  fields.push_back(text(summary.peak_share()));
}

// Behind the older columns, so that these keep their places.
void add_late_columns(std::vector<std::string>& fields, const CellSummary& summary) {
  const std::optional<stats::Estimate> efficiency = summary.efficiency();
  const bool known = efficiency && efficiency->interval;
  fields.push_back(known ? fmt::format("{}", efficiency->interval->low) : "");
  fields.push_back(known ? fmt::format("{}", efficiency->interval->high) : "");
  const Unsteadiness& found = summary.unsteadiness;
  fields.push_back(found.drift ? fmt::format("{}", found.drift->change) : "");
  fields.push_back(found.modes ? fmt::format("{};{}", found.modes->low, found.modes->high) : "");
  fields.push_back(std::to_string(found.launches_in_modes));
}

template <class Found, class IsOf>
const Found* find_of(const std::vector<Found>& list, IsOf is_of) {
  const auto found = std::find_if(list.begin(), list.end(), is_of);
  return found == list.end() ? nullptr : &*found;
}

std::string options_text(const results::Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options) parts.push_back(name + "=" + value);
  return join(parts, " ");
}

// "none" where there ought to be one; empty of single, and of what was not measured.
std::string baseline_text(const CellSummary& summary) {
  if (summary.speedup) return "single";
  return summary.launches > 0 && summary.cell.strategy != "single" ? "none" : "";
}

std::vector<std::string> cell_fields(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  const bool measured = summary.launches > 0;
  std::vector<std::string> fields{cell.model,
                                  std::to_string(cell.global_batch),
                                  std::to_string(cell.devices),
                                  cell.strategy,
                                  cell.launch,
                                  cell.backend,
                                  summary.mode,
                                  options_text(cell),
                                  std::string(to_string(summary.status)),
                                  summary.reason,
                                  join(marks_of(summary), "; "),
                                  std::to_string(summary.launches),
                                  std::to_string(summary.failed_launches),
                                  std::to_string(summary.samples)};
  add_estimate(fields, measured ? &summary.median_step : nullptr);
  add_estimate(fields, measured ? &summary.mean_step : nullptr);
  add_estimate(fields, measured ? &summary.throughput : nullptr);
  fields.emplace_back(baseline_text(summary));
  add_estimate(fields, summary.speedup ? &*summary.speedup : nullptr);
  fields.push_back(summary.speedup ? fmt::format("{}", summary.efficiency()->center) : "");
  fields.push_back(summary.phases.empty() ? "" : fmt::format("{}", summary.remainder_share()));
  return fields;
}

// As many fields as the others have: what was not measured has no figures.
std::string dropped_row(const std::string& name, const std::string& reason) {
  CellSummary dropped;
  dropped.cell = cell_named(name);
  std::vector<std::string> fields = cell_fields(dropped);
  constexpr std::size_t kStatus = 8;
  fields[kStatus] = "dropped";
  fields[kStatus + 1] = reason;
  fields.resize(static_cast<std::size_t>(std::ranges::count(kHeader, ',')) + 1);
  for (std::string& field : fields) field = csv_field(field);
  return join(fields, ",") + "\n";
}

}  // namespace

std::string to_csv(const Summary& summary, const std::vector<results::DroppedCells>& dropped) {
  const std::vector<DdpCost> costs = ddp_costs(summary);
  const std::vector<CollectiveTimes> collectives = collective_times(summary);
  std::string text{kHeader};
  for (const CellSummary& cell : summary.cells) {
    std::vector<std::string> fields = cell_fields(cell);
    add_cost(fields, find_of(costs, [&](const DdpCost& cost) { return cost.ddp == &cell; }));
    add_collectives(fields, find_of(collectives, [&](const CollectiveTimes& times) {
                      return times.cell == &cell;
                    }));
    add_flops(fields, cell);
    add_late_columns(fields, cell);
    for (std::string& field : fields) field = csv_field(field);
    text += join(fields, ",") + "\n";
  }
  for (const results::DroppedCells& group : dropped) {
    for (const std::string& name : group.cells) text += dropped_row(name, group.reason);
  }
  return text;
}

}  // namespace tandem::reports
