// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/projecting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/hardware/published_errors.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/answer/report.h"
#include "reports/model/subject.h"
#include "reports/render/decision_text.h"
#include "reports/render/projection_text.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

using results::Cell;
using results::LaunchRecord;
using results::Status;

constexpr std::chrono::minutes kPatienceWithCell{10};

int device_count(std::string_view text, std::string_view whole) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number && count >= 1 && count <= kMostProjectedDevices) return count;
  fail(ErrorKind::kUsage,
       "--devices={}: use a number from 1 to {}, a range from 1, such as 1..64, or a list, such as "
       "2,4,6",
       whole, kMostProjectedDevices);
}

// Writes what stands behind a projection and how wide its intervals are, so that its report says
// so.
void tell_errors(std::map<std::string, std::string>& told, const reports::Projection& projection) {
  std::string standing = reports::standing_of(projection);
  standing.pop_back();  // the verdict's own sentence has a full stop
  told[reports::kStanding] = std::move(standing);
  std::vector<std::string> widths;
  if (projection.decisions) {
    for (const reports::PublishedStanding& one : projection.decisions->standing) {
      widths.push_back(fmt::format("{}:{}:{}", one.strategy, one.half_width, one.most_devices));
    }
  } else if (projection.half_width) {
    for (const char* strategy : {"dp", "ddp"}) {
      widths.push_back(
          fmt::format("{}:{}:{}", strategy, *projection.half_width, projection.most_measured));
    }
  }
  if (!widths.empty()) told[reports::kHalfWidths] = fmt::format("{}", fmt::join(widths, ","));
}

}  // namespace

std::vector<int> device_counts(std::string_view text) {
  std::set<int> counts;
  const bool is_range = text.starts_with("1..");
  if (text.find(',') == std::string_view::npos) {
    const int most = device_count(is_range ? text.substr(3) : text, text);
    for (int count = 1; count < most; count *= 2) counts.insert(count);
    counts.insert(most);
  } else {
    for (const std::string_view part : split(text, ',')) counts.insert(device_count(part, text));
  }
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

void check_options_of(const Cell& cell, const ProjectionPlace& place,
                      const Interrupts& interrupts) {
  constexpr std::string_view kProgram = "step_bench: ";  // begins its errors
  const TemporaryFolder scratch;
  const Launcher asking = projecting_launcher(place, scratch.path(), interrupts);
  std::string refusal = asking.refusal_of(cell, Check::kOptions);
  if (refusal.starts_with(kProgram)) refusal.erase(0, kProgram.size());
  if (!refusal.empty()) fail(ErrorKind::kUsage, "{}", refusal);
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

std::string described_operations() {
  const PublishedErrors errors = errors_elsewhere("single");
  return fmt::format(
      "operations: described alone, by a roofline, which errs by {:.0f} % on average, by {:.0f} % "
      "at most on {} published steps of one GPU of ResNet-50 and BERT-large that nothing was "
      "fitted to: the interval of such a step, divided and multiplied by {:.2f}, holds nine in ten "
      "like them, and other models, such as small MLPs and GPT-2, may lie outside",
      100 * errors.mean, 100 * errors.most, errors.steps, std::exp(errors.half_width));
}

void write_projection(const reports::Projection& projection, const reports::SignsTold& signs,
                      std::vector<LaunchRecord> launches, const ProjectionPlace& place) {
  const OutputFolder out(place.out);
  results::replace_file(out.folder() / "projection.md", reports::to_markdown(projection, signs));
  if (launches.empty()) return;
  results::Document document;
  document.sweep = {.name = "project",
                    .definition = {},
                    .planned_cells = static_cast<int>(launches.size()),
                    .launches_per_cell = 1,
                    .additions = {},
                    .context = measuring_context("project", place.step_bench),
                    .commands = {place.command}};
  tell_errors(document.sweep.context.custom, projection);
  document.launches = std::move(launches);
  const reports::Report report = reports::make_report(std::move(document));
  if (projection.decisions) {
    results::replace_file(out.folder() / "projection.html",
                          reports::decision_page(projection, report));
  }
  out.write(report);
}

}  // namespace tandem::cli
