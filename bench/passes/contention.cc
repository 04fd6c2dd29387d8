// SPDX-License-Identifier: Apache-2.0
#include "bench/passes/contention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>

#include "bench/driver/sampler.h"
#include "bench/step/launch_report.h"
#include "bench/step/strategy_factory.h"
#include "common/base/error.h"
#include "common/comm/switched_communicator.h"
#include "common/json/fields.h"
#include "common/results/files.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr double kLeastShare = 0.001;  // of a step: a shorter phase has no row

using TimeOf = std::function<double(const PhaseTimes&)>;  // seconds over all steps of a sample

// Seconds per step, by pair.
struct Blocks {
  std::vector<double> off;
  std::vector<double> on;
};

Blocks blocks_of(const DevicePhaseTimes& times, const ContentionPlan& plan, const TimeOf& time) {
  Blocks blocks;
  const auto samples = static_cast<std::size_t>(plan.samples);
  for (int block = 0; block < 2 * plan.pairs; ++block) {
    double seconds = 0;
    double steps = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      const PhaseTimes& sample = times.samples.at(static_cast<std::size_t>(block) * samples + i);
      seconds += time(sample);
      steps += sample.steps;
    }
    (ContentionPlan::is_on(block) ? blocks.on : blocks.off).push_back(seconds / steps);
  }
  return blocks;
}

bool all_above_zero(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

void add(std::vector<double>& to, const std::vector<double>& values) {
  to.resize(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) to[i] += values[i];
}

PhaseContention compared(const std::string& name, const std::vector<DevicePhaseTimes>& times,
                         const ContentionPlan& plan, const TimeOf& time, bool is_work = true) {
  Blocks all;
  std::vector<double> ratios;
  bool is_always_there = true;
  for (const DevicePhaseTimes& device : times) {
    const Blocks mine = blocks_of(device, plan, time);
    add(all.off, mine.off);
    add(all.on, mine.on);
    is_always_there = is_always_there && all_above_zero(mine.off) && all_above_zero(mine.on);
    if (is_always_there) ratios.push_back(stats::median_of_paired_ratios(mine.off, mine.on).center);
  }
  const auto devices = static_cast<double>(times.size());
  PhaseContention found{.phase = name,
                        .off = Seconds(stats::mean(all.off) / devices),
                        .on = Seconds(stats::mean(all.on) / devices)};
  if (!is_work || !is_always_there) return found;
  found.ratio = stats::median_of_paired_ratios(all.off, all.on);
  found.least = stats::minimum(ratios);
  found.most = stats::maximum(ratios);
  return found;
}

double in_seconds(Nanoseconds time) { return Seconds(time).count(); }

bool is_compute(Phase phase) { return phase != Phase::kExposedComm && phase != Phase::kIdle; }

double compute_time(const PhaseTimes& times) {
  double seconds = 0;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (is_compute(static_cast<Phase>(i))) seconds += in_seconds(times.total[i]);
  }
  return seconds;
}

std::string interval_text(const stats::Estimate& ratio) {
  if (ratio.center == 0) return "-";
  if (!ratio.interval) return fmt::format("{:.3f}", ratio.center);
  return fmt::format("{:.3f} [{:.3f} .. {:.3f}]", ratio.center, ratio.interval->low,
                     ratio.interval->high);
}

std::string row(const PhaseContention& one) {
  return fmt::format(
      "  {:<14} {:>10.3f} {:>10.3f}   {:<24}{}\n", one.phase, one.off.count() * 1e3,
      one.on.count() * 1e3, interval_text(one.ratio),
      one.ratio.center == 0 ? "" : fmt::format("{:.3f} .. {:.3f}", one.least, one.most));
}

bool is_resolved(const PhaseContention& one) {
  return one.ratio.interval && !one.ratio.interval->holds(1);
}

// "backward takes 7.1 % longer [5.0 .. 9.2]".
std::string change_text(const PhaseContention& one) {
  const auto& [low, high] = *one.ratio.interval;
  const bool is_longer = one.ratio.center > 1;
  const double sign = is_longer ? 100 : -100;
  return fmt::format("{} takes {:.1f} % {} [{:.1f} .. {:.1f}]", one.phase,
                     (one.ratio.center - 1) * sign, is_longer ? "longer" : "less",
                     ((is_longer ? low : high) - 1) * sign, ((is_longer ? high : low) - 1) * sign);
}

std::string sentence(const Contention& contention) {
  std::vector<std::string> changes;
  std::vector<std::string> others;
  for (const PhaseContention& one : contention.phases) {
    if (one.ratio.center == 0) continue;
    if (is_resolved(one)) {
      changes.push_back(change_text(one));
    } else {
      others.push_back(one.phase);
    }
  }
  if (contention.phases.empty() || !contention.compute.ratio.interval) {
    return "Too few pairs for an interval: take 20 or more.\n";
  }
  std::string text = changes.empty() ? "No phase's time is resolved to differ"
                                     : fmt::format("While gradients are communicated, {}",
                                                   fmt::join(changes, "; "));
  if (!changes.empty() && !others.empty()) {
    text += fmt::format("; not resolved: {}", fmt::join(others, ", "));
  }
  return text + ".\n";
}

void write(JsonWriter& writer, std::string_view key, const PhaseContention& one) {
  writer.open(key, '{');
  writer.value("phase", one.phase);
  writer.value("off", one.off.count());
  writer.value("on", one.on.count());
  if (one.ratio.center != 0) {
    writer.value("ratio", one.ratio.center);
    if (const auto& interval = one.ratio.interval) {
      write_json(writer, "ratio_interval", std::vector{interval->low, interval->high});
    }
    writer.value("ratio_least_device", one.least);
    writer.value("ratio_most_device", one.most);
  }
  writer.close();
}

// Ranks that are threads have communicators of their own, which this factory makes.
ddp::RankCommunicator switched(const Variant& variant, const SwitchedCommunicator::Switch& is_on) {
  return [&variant, is_on](Bootstrap& bootstrap, Device& device) {
    auto other = variant.communicator ? variant.communicator(bootstrap, device)
                                      : make_communicator(Transport::kAuto, bootstrap, device,
                                                          {.deadline = variant.deadline});
    return std::make_unique<SwitchedCommunicator>(std::move(other), is_on);
  };
}

class MeasuredBlocks {
 public:
  MeasuredBlocks(Bootstrap& bootstrap, Strategy& strategy, Job& job, const StepOptions& options,
                 std::atomic<bool>& is_on)
      : strategy_(strategy),
        sampler_(strategy, *job.communicator, options.steps_per_sample(), clocks_of(job)),
        is_on_(is_on) {
    GpuWatch gpus(bootstrap, job);
    static_cast<void>(sampler_.warm_up(settling_warmup(job, options, gpus)));
  }

  // The first sample after the switch is dropped: the other setting left its caches and weights.
  void take(const ContentionPlan& plan, int index) {
    is_on_ = ContentionPlan::is_on(index);
    static_cast<void>(sampler_.sample());
    forget_times(strategy_);
    for (int i = 0; i < plan.samples; ++i) {
      static_cast<void>(sampler_.sample());
      times_.add_sample(strategy_);
    }
  }

  [[nodiscard]] const RankTimes& times() const { return times_; }

 private:
  Strategy& strategy_;
  Sampler sampler_;
  std::atomic<bool>& is_on_;
  RankTimes times_;
};

std::vector<DevicePhaseTimes> take_blocks(Bootstrap& bootstrap, Job& job,
                                          const StepOptions& options, const Model& model,
                                          const ContentionPlan& plan) {
  const auto is_on = std::make_shared<std::atomic<bool>>(true);
  if (job.launch == Launch::kProcesses) {
    job.communicator = std::make_unique<SwitchedCommunicator>(std::move(job.communicator), is_on);
  }
  Variant variant = options.variant;
  variant.communicator = switched(options.variant, is_on);
  const auto strategy = make_strategy_together(bootstrap, job, model, variant);
  return aborting_on_error(job, [&] {
    MeasuredBlocks blocks(bootstrap, *strategy, job, options, *is_on);
    for (int index = 0; index < 2 * plan.pairs; ++index) blocks.take(plan, index);
    *is_on = true;
    return blocks.times().gather_phases(bootstrap, job);
  });
}

}  // namespace

Contention contention_of(const std::vector<DevicePhaseTimes>& times, const ContentionPlan& plan) {
  TANDEM_CHECK(!times.empty(), "the contention of no device");
  Contention found{.plan = plan, .devices = static_cast<int>(times.size())};
  found.step = compared("step", times, plan,
                        [](const PhaseTimes& sample) { return in_seconds(sample.span); });
  found.compute = compared("compute", times, plan, compute_time);
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    PhaseContention one = compared(
        std::string(kPhaseNames[i]), times, plan,
        [i](const PhaseTimes& sample) { return in_seconds(sample.total[i]); },
        is_compute(static_cast<Phase>(i)));
    const bool is_worth_a_row =
        std::max(one.off, one.on) >= kLeastShare * std::max(found.step.off, found.step.on);
    if (is_worth_a_row) found.phases.push_back(std::move(one));
  }
  return found;
}

std::string to_text(const Contention& contention) {
  std::string text = fmt::format(
      "Times in ms per step, mean of {} devices; {} pairs of {} samples with communication and as "
      "many without, in turn.\n  {:<14} {:>10} {:>10}   {:<24}{}\n",
      contention.devices, contention.plan.pairs, contention.plan.samples, "phase", "off", "on",
      "on / off (95 %)", "devices");
  for (const PhaseContention& one : contention.phases) text += row(one);
  return text + row(contention.compute) + row(contention.step) + sentence(contention);
}

std::string to_json(const Contention& contention,
                    const std::map<std::string, std::string>& subject) {
  std::string text;
  JsonWriter writer(text, 1);
  writer.open("", '{');
  writer.value("tandem_contention", "1.0.0");
  write_json(writer, "subject", subject);
  writer.value("devices", contention.devices);
  writer.value("pairs", contention.plan.pairs);
  writer.value("samples_per_block", contention.plan.samples);
  writer.open("phases", '[');
  for (const PhaseContention& one : contention.phases) write(writer, "", one);
  writer.close();
  write(writer, "compute", contention.compute);
  write(writer, "step", contention.step);
  writer.close();
  writer.finish();
  return text;
}

void measure_contention(Bootstrap& bootstrap, Job& job, const StepOptions& step, const Model& model,
                        const BlockPairOptions& options) {
  const ContentionPlan plan{.pairs = options.pairs};
  const auto times = take_blocks(bootstrap, job, step, model, plan);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    const Contention found = contention_of(times, plan);
    results::replace_file(options.file, to_json(found, cell_facts(job, step)));
    std::cout << to_text(found) << std::flush;
    std::cerr << fmt::format("contention: {}\n", options.file);
  });
}

}  // namespace tandem::bench
