// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/timeline/launch_figures.h"
#include "common/timeline/subject.h"
#include "common/timeline/summary.h"

namespace tandem::timeline {
namespace {

double in_milliseconds(Nanoseconds time) { return Seconds(time).count() * 1e3; }

std::string heading(const Trace& trace) {
  Nanoseconds error{0};
  for (const Process& process : trace.processes) error = std::max(error, process.clock_error);
  return fmt::format("{}\nclock: {}; error bound {:.1f} us\n", subject_of(trace),
                     fact(trace, "clock"), in_milliseconds(error) * 1e3);
}

std::string row(const StepFigures& one) {
  return fmt::format(
      "{:>4}  {:>9.3f}  {:>13}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>9.3f}  {:>7}  "
      "{:>9.3f}  {:>9.3f}  "
      "{:>9.3f}\n",
      one.step, in_milliseconds(one.length), fmt::format("{} / {}", one.rank, one.device),
      in_milliseconds(one.communication), in_milliseconds(one.exposed),
      in_milliseconds(one.hand_over), in_milliseconds(one.exposed_by_books),
      in_milliseconds(one.in_line), in_milliseconds(one.in_gaps),
      one.communication == Nanoseconds{0} ? "-" : fmt::format("{:.1f} %", one.overlap() * 100),
      in_milliseconds(one.idle), in_milliseconds(one.end_skew), in_milliseconds(one.arrival_skew));
}

// The table of steps; METHODOLOGY.md defines its columns.
std::string table(const Summary& summary) {
  std::string text = fmt::format(
      "\nTimes in ms, of the device that ended last; skews of all.\n{:>4}  {:>9}  {:>13}  {:>9}  "
      "{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>7}  {:>9}  {:>9}  {:>9}\n",
      "step", "length", "rank / device", "comm", "exposed", "hand-over", "books", "in line",
      "in gaps", "overlap", "idle", "end skew", "arrival");
  for (const StepFigures& one : summary.steps) text += row(one);
  return text;
}

std::string path(const Summary& summary) {
  std::map<std::string, Nanoseconds> sums;
  Nanoseconds whole{0};
  for (const StepFigures& one : summary.steps) {
    for (const auto& [name, time] : one.critical_path) {
      sums[name] += time;
      whole += time;
    }
  }
  std::vector<std::pair<std::string, Nanoseconds>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "\nCritical path, mean of the steps:\n";
  const auto steps = static_cast<double>(std::max<std::size_t>(1, summary.steps.size()));
  for (const auto& [name, time] : sorted) {
    text += fmt::format("  {:<14} {:>9.3f} ms  {:>5.1f} %\n", name, in_milliseconds(time) / steps,
                        whole == Nanoseconds{0} ? 0.0 : Seconds(time) / Seconds(whole) * 100);
  }
  return text;
}

std::string waits(const Summary& summary) {
  std::string text = "\nLongest waits:\n";
  for (const Wait& wait : summary.waits) {
    text += fmt::format("  {:.3f} ms in {}, rank {} device {}, step {} at {:.3f} ms: {}\n",
                        in_milliseconds(wait.length), wait.phase, wait.rank, wait.device, wait.step,
                        in_milliseconds(wait.begin), wait.cause);
  }
  return summary.waits.empty() ? "\nNo waits.\n" : text;
}

}  // namespace

std::string to_text(const Trace& trace, const Summary& summary) {
  return heading(trace) + table(summary) + path(summary) + waits(summary) + comparison_text(trace);
}

std::string to_json(const Summary& summary) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const DeviceMeans& one : summary.devices) {
    nlohmann::ordered_json phases = nlohmann::ordered_json::object();
    for (const auto& [name, time] : one.phases) phases[name] = time.count();
    devices.push_back({{"rank", one.rank},
                       {"device", one.device},
                       {"steps", one.steps},
                       {"step", one.step.count()},
                       {"communication", one.communication.count()},
                       {"exposed", one.exposed.count()},
                       {"hand_over", one.hand_over.count()},
                       {"in_line", one.in_line.count()},
                       {"phases", phases}});
  }
  return nlohmann::ordered_json{{"devices", devices}}.dump(1) + "\n";
}

}  // namespace tandem::timeline
