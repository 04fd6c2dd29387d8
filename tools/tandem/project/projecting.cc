// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/projecting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/answer/report.h"
#include "reports/answer/trees.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "reports/text/format.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

using results::Cell;
using results::LaunchRecord;
using results::Status;

constexpr std::chrono::minutes kPatienceWithCell{10};
constexpr std::chrono::seconds kQuiet{5};  // between two lines of progress

int device_count(std::string_view text, std::string_view whole) {
  const auto count = parse_number<int>(text);
  if (count && *count >= 1 && *count <= kMostProjectedDevices) return *count;
  fail(ErrorKind::kUsage,
       "--devices={}: use a number from 1 to {}, a range from 1, such as 1..64, or a list, such as "
       "2,4,6",
       whole, kMostProjectedDevices);
}

// Writes the answer of a projection, what stands behind it and how wide its intervals are, so that
// its report says so.
void add_answer(std::map<std::string, std::string>& into, const reports::Projection& projection) {
  std::string standing = reports::standing_of(projection);
  standing.pop_back();  // the verdict's own sentence has a full stop
  into[reports::kStanding] = std::move(standing);
  into[reports::kProjectedAnswer] = reports::join(reports::answer_of(projection), "\n");
  std::vector<std::string> widths;
  if (projection.decisions) {
    for (const reports::PublishedStanding& one : projection.decisions->standing) {
      widths.push_back(fmt::format("{}:{}:{}", one.strategy, one.half_width, one.most_devices));
      if (one.beyond > 0) widths.back() += fmt::format(":{}", one.beyond);
    }
  } else if (projection.half_width) {
    for (const char* strategy : {"dp", "ddp"}) {
      widths.push_back(
          fmt::format("{}:{}:{}", strategy, *projection.half_width, projection.most_measured));
    }
  }
  if (!widths.empty()) into[reports::kHalfWidths] = fmt::format("{}", fmt::join(widths, ","));
}

}  // namespace

std::vector<int> device_counts(std::string_view text) {
  const bool is_range = text.starts_with("1..");
  if (text.find(',') == std::string_view::npos) {
    const int most = device_count(is_range ? text.substr(3) : text, text);
    return doubling(most);
  }
  std::set<int> counts;
  for (const std::string_view part : split(text, ',')) counts.insert(device_count(part, text));
  return {counts.begin(), counts.end()};
}

Launcher projecting_launcher(const ProjectionPlace& place, const std::filesystem::path& logs,
                             const Interrupts& interrupts) {
  return {{.step_bench = place.step_bench,
           .min_time = "1ms",
           .min_samples = 1,
           .model_files = place.model_files},
          logs,
          kPatienceWithCell,
          interrupts};
}

const LaunchRecord& StepSimulator::step(const Cell& cell) {
  const std::string name = cell.name();
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  say_where_it_takes_long(cell);
  auto outcome = launcher_.run(cell, 0);
  if (!outcome) throw Interrupted("simulating " + cell.strategy + ", " + reports::point_text(cell));
  return known_.emplace(name, std::move(outcome->record)).first->second;
}

std::vector<LaunchRecord> StepSimulator::steps(const std::vector<Cell>& cells) {
  std::vector<LaunchRecord> records;
  for (const Cell& cell : cells) records.push_back(step(cell));
  return records;
}

void StepSimulator::say_where_it_takes_long(const Cell& cell) {
  const Clock::time_point now = Clock::now();
  if (now - said_ < kQuiet) return;
  said_ = now;
  fmt::print(stderr, "simulated {} in {} s; next: {} on {}, batch {}\n",
             count_text(static_cast<long long>(known_.size()), "step"),
             std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(), cell.strategy,
             count_text(cell.devices, "device"), cell.global_batch);
}

double step_seconds(const LaunchRecord& record) {
  return record.step_seconds.empty() ? 0 : record.step_seconds.back();
}

std::vector<LaunchRecord> project_on(reports::Projection& projection,
                                     const std::vector<Cell>& cells, StepSimulator& simulator) {
  std::vector<LaunchRecord> launches = simulator.steps(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const LaunchRecord& record = launches[i];
    if (record.status == Status::kOk) {
      projection.cells.push_back(
          {.cell = record.cell,
           .seconds = step_seconds(record),
           .rests_on = record.rests_on.value_or(std::map<std::string, double>{})});
    } else {
      projection.left_out.push_back({cells[i], record.reason});
    }
  }
  return launches;
}

std::vector<std::string> basis_lines(const std::vector<LaunchRecord>& launches) {
  std::set<std::string> lines;
  for (const LaunchRecord& record : launches) {
    for (const std::string& words : record.modelled) {
      if (!words.starts_with("critical path:")) lines.insert(words);
    }
  }
  return {lines.begin(), lines.end()};
}

void write_projection(const reports::Projection& projection, std::vector<LaunchRecord> launches,
                      const ProjectionPlace& place) {
  const OutputFolder out(place.out);
  const reports::Section tree = reports::tree_of(projection);
  results::replace_file(out.folder() / "projection.md", reports::to_markdown(tree));
  if (launches.empty()) return;
  results::Document document;
  document.sweep = {.name = "project",
                    .planned_cells = static_cast<int>(launches.size()),
                    .launches_per_cell = 1,
                    .context = measuring_context("project", place.step_bench),
                    .commands = {place.command}};
  add_answer(document.sweep.context.custom, projection);
  document.launches = std::move(launches);
  out.write(reports::make_report(std::move(document)));
}

}  // namespace tandem::cli
