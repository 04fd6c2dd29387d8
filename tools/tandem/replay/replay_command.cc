// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/replay_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/results/launch_record.h"
#include "reports/text/format.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/catalogue/published_errors.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/replay/replayed_step.h"

namespace tandem::cli {
namespace {

using replay::ReplayedStep;
using reports::duration_text;

constexpr std::size_t kFirstSteps = 2;  // whose buckets and caches are not those of later ones
constexpr std::chrono::minutes kPatienceWithStrategy{10};

// A critical path's seconds by what they are of.
using PathSeconds = std::map<std::string, double>;
constexpr auto kParts =
    std::to_array<std::string_view>({"host", "operations", "copies", "collectives", "waiting"});

double seconds(Nanoseconds time) { return Seconds(time).count(); }

// "operations described" is of operations.
PathSeconds path_seconds(const std::map<std::string, double>& shares, double step) {
  PathSeconds parts;
  for (const auto& [name, share] : shares) parts[name.substr(0, name.find(' '))] += share * step;
  return parts;
}

struct ReplayedSteps {
  std::size_t first = 0;  // of the steps that count
  std::vector<ReplayedStep> all{};

  // The one whose time is the median, or the lower of the two.
  [[nodiscard]] std::size_t median() const {
    std::vector<std::size_t> order(all.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
    std::ranges::stable_sort(order, {}, [this](std::size_t at) { return all[at].time; });
    return order[(order.size() - 1) / 2];
  }
};

ReplayedSteps replay_all(const std::vector<replay::LoggedProcess>& processes,
                         const HardwareDescription& hardware, double host_speed) {
  const std::size_t steps = processes.front().steps.size();
  ReplayedSteps replayed{.first = steps > kFirstSteps ? kFirstSteps : 0};
  for (std::size_t step = replayed.first; step < steps; ++step) {
    replayed.all.push_back(replay::replay_step(processes, step, hardware, host_speed));
  }
  return replayed;
}

void print_line(std::string_view what, const std::string& text) {
  fmt::print("{:<15}{}\n", what, text);
}

std::string shares_text(const std::map<std::string, double>& shares) {
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, share] : shares) parts.emplace_back(share, name);
  std::ranges::sort(parts, std::greater<>());
  std::vector<std::string> words;
  for (const auto& [share, name] : parts)
    words.push_back(fmt::format("{} {:.0f} %", name, 100 * share));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string hosts_text(const ReplayedStep& step) {
  Nanoseconds with{0};
  Nanoseconds without{0};
  for (const replay::HostTimes& host : step.hosts) {
    with = std::max(with, host.with_lock);
    without = std::max(without, host.without_lock);
  }
  return fmt::format("at most {} with Python's lock and {} without, all threads of a process",
                     duration_text(seconds(with)), duration_text(seconds(without)));
}

std::string devices_text(const ReplayedStep& step) {
  std::vector<std::string> words;
  for (const auto& [device, time] : step.computing) {
    words.push_back(fmt::format("GPU {} {}", device, duration_text(seconds(time))));
  }
  return fmt::format("computing alone: {}", fmt::join(words, ", "));
}

// A kernel's mangled name begins with namespaces that all of torch's share.
std::string_view short_name(std::string_view kernel) {
  constexpr std::string_view kNamespaces = "_ZN2at6native";
  if (kernel.starts_with(kNamespaces)) kernel.remove_prefix(kNamespaces.size());
  return kernel.substr(0, 48);
}

void print_guessed(const ReplayedStep& step) {
  int launches = 0;
  std::pair<int, std::string_view> most;
  for (const auto& [kernel, count] : step.guessed) {
    launches += count;
    most = std::max(most, std::pair<int, std::string_view>(count, kernel));
  }
  if (launches == 0) return;
  print_line(
      "guessed",
      fmt::format("{} of the launches tell no sizes and take {}, by their threads; most "
                  "often {}",
                  launches, duration_text(seconds(step.guessed_time)), short_name(most.second)));
}

void print_step(const ReplayedSteps& steps, const ReplayedStep& step) {
  const auto [least, most] = std::ranges::minmax(steps.all, {}, &ReplayedStep::time);
  print_line("step",
             fmt::format("{} ({} to {})", duration_text(seconds(step.time)),
                         duration_text(seconds(least.time)), duration_text(seconds(most.time))));
  print_line("critical path", shares_text(step.path.shares()));
  print_line("host", hosts_text(step));
  print_line("devices", devices_text(step));
  print_line("asked", fmt::format("launches {}, copies {}, collectives {}", step.launches,
                                  step.copies, step.collectives));
  print_guessed(step);
}

results::LaunchRecord simulated_strategy(const ReplayOptions& options) {
  const TemporaryFolder scratch;
  const std::filesystem::path record = scratch.path() / "record.json";
  std::vector<std::string> command{find_step_bench(options.step_bench).string()};
  command.insert(command.end(), options.strategy.begin(), options.strategy.end());
  command.insert(command.end(), {"--backend=simulated", "--hardware=" + options.hardware,
                                 "--record=" + record.string()});
  const Interrupts interrupts;
  const std::string what = "simulating the strategy beside the log";
  const ChildResult child = run_child({.arguments = command,
                                       .environment = launch_environment(),
                                       .log = scratch.path() / "step_bench.log",
                                       .timeout = kPatienceWithStrategy},
                                      interrupts);
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(what);
  if (!child.has_exited(0)) {
    fail(child.has_exited(kUsageExit) ? ErrorKind::kUsage : ErrorKind::kFailure, "{}",
         reason_of(child, what, kPatienceWithStrategy));
  }
  return results::read_record(record);
}

// Why a part may differ by the two methods' rules; nothing here looked into this step.
std::string_view reason_of_part(std::string_view part) {
  if (part == "host") {
    return "PyTorch's own host work in the log may take longer or shorter than the strategy's "
           "launch per call and --dispatch-cost";
  }
  if (part == "operations") {
    return "the strategy may have one kernel for several of PyTorch's, or the reverse";
  }
  if (part == "copies") return "the two may copy other pieces, or hide them behind other work";
  if (part == "collectives") return "the two may send other pieces, or hide them behind other work";
  return "the strategy may have planted delays, and a log has none";
}

void print_beside(const ReplayedStep& step, const results::LaunchRecord& record) {
  const double log_step = seconds(step.time);
  const double own_step = record.step_seconds.empty() ? 0 : record.step_seconds.back();
  const PathSeconds log_parts = path_seconds(step.path.shares(), log_step);
  const PathSeconds own_parts =
      path_seconds(record.rests_on.value_or(std::map<std::string, double>{}), own_step);
  const auto row = [](std::string_view name, double log, double own) {
    fmt::print("{:<15}{:>10}{:>12}{:>+12.3f} ms\n", name, duration_text(log), duration_text(own),
               1e3 * (log - own));
  };
  fmt::print("\n{:<15}{:>10}{:>12}{:>15}\n", "critical path", "log", record.cell.strategy,
             "difference");
  row("step", log_step, own_step);
  std::pair<double, std::string_view> largest;
  for (const std::string_view part : kParts) {
    const auto of = [&](const PathSeconds& parts) {
      const auto found = parts.find(std::string(part));
      return found == parts.end() ? 0.0 : found->second;
    };
    if (of(log_parts) == 0 && of(own_parts) == 0) continue;
    row(part, of(log_parts), of(own_parts));
    const double apart = std::abs(of(log_parts) - of(own_parts));
    largest = std::max(largest, std::pair(apart, part));
  }
  if (!largest.second.empty()) {
    fmt::print("Most of it is {}: {}.\n", largest.second, reason_of_part(largest.second));
  }
}

}  // namespace

void replay_log(const ReplayOptions& options) {
  if (options.host_speed && (!std::isfinite(*options.host_speed) || *options.host_speed <= 0)) {
    fail(ErrorKind::kUsage, "--host-speed={}: use a number above 0, such as 1.3",
         *options.host_speed);
  }
  const HardwareDescription hardware = find_hardware(options.hardware, "--hardware");
  const InterpreterCosts published = interpreter_costs(hardware.gpu.name);
  const std::vector<replay::LoggedProcess> processes = replay::read_call_logs(options.log);
  const ReplayedSteps steps =
      replay_all(processes, hardware, options.host_speed.value_or(1 / published.factor));
  const std::size_t median = steps.median();
  std::optional<results::LaunchRecord> strategy;
  if (!options.strategy.empty()) strategy = simulated_strategy(options);
  fmt::print(
      "PyTorch's host work from {}, device times from the description of {}: simulated, "
      "never measured.\n",
      options.log, hardware.name);
  fmt::print("{} process{}, {} step{}, of which step {} is the median.\n", processes.size(),
             processes.size() == 1 ? "" : "es", steps.all.size(), steps.all.size() == 1 ? "" : "s",
             steps.first + median);
  print_step(steps, steps.all[median]);
  if (!options.host_speed) {
    const ReplayedStep as_logged = replay::replay_step(processes, steps.first + median, hardware);
    print_line("host's factor",
               fmt::format(
                   "{:.2f} times the logged work, {}; with --host-speed=1 the step takes {}",
                   published.factor, origin_of(published), duration_text(seconds(as_logged.time))));
  }
  if (strategy) print_beside(steps.all[median], *strategy);
}

}  // namespace tandem::cli
