// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/neighbours.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "common/base/system_files.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/results/machine_facts.h"

namespace tandem::doctor {
namespace {

namespace fs = std::filesystem;

constexpr Nanoseconds kGap = std::chrono::microseconds(10);
constexpr double kWarnedLost = 0.01, kMostLost = 0.10;
constexpr double kWarnedGap = 5e-3;
constexpr double kWarnedStolen = 0.01, kMostStolen = 0.05;

// Binds the calling thread to the core and watches the core; lost < 0 where the thread may not use
// the core.
CoreNoise watch(int cpu, Nanoseconds time) {
  CoreNoise noise{.cpu = cpu};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) {
    noise.lost = -1;
    return noise;
  }
  const TimePoint start = Clock::now();
  Nanoseconds lost{0};
  for (TimePoint before = start, now = start; now - start < time; before = now) {
    now = Clock::now();
    const Nanoseconds gap = now - before;
    if (gap <= kGap) continue;
    lost += gap;
    noise.longest = std::max(noise.longest, Seconds(gap).count());
  }
  noise.lost = Seconds(lost).count() / Seconds(Clock::now() - start).count();
  return noise;
}

Finding judge_cores(const NeighbourFacts& facts) {
  const std::string subject = "neighbours";
  const auto worst = std::ranges::max_element(facts.cores, {}, &CoreNoise::lost);
  const auto gap = std::ranges::max_element(facts.cores, {}, &CoreNoise::longest);
  const std::string text = fmt::format(
      "in {:.1f} s on {} the noisiest (CPU {}) lost {:.2f} % of its time in gaps over 10 "
      "us; the longest gap took {:.2f} ms (CPU {})",
      facts.seconds, count_text(std::ssize(facts.cores), "core"), worst->cpu, worst->lost * 100,
      gap->longest * 1e3, gap->cpu);
  const char* const advice =
      "end or move what else runs here (top), or measure when it is done; intervals will be wider";
  if (worst->lost >= kMostLost) return problem(subject, text, advice);
  if (worst->lost >= kWarnedLost || gap->longest >= kWarnedGap) {
    return warning(subject, text, advice);
  }
  return ok(subject, text);
}

Finding judge_stolen(const NeighbourFacts& facts) {
  const std::string subject = "steal time";
  if (!facts.stolen) return not_checked(subject, "/proc/stat does not tell");
  const std::string text =
      fmt::format("{:.1f} % of the time went to other virtual machines", *facts.stolen * 100);
  const char* const advice = "take a machine with cores of its own (dedicated or bare metal)";
  if (*facts.stolen >= kMostStolen) return problem(subject, text, advice);
  if (*facts.stolen >= kWarnedStolen) return warning(subject, text, advice);
  return ok(subject, text);
}

}  // namespace

std::vector<int> one_thread_per_core(const fs::path& root, const std::vector<int>& allowed) {
  std::set<std::string> seen;
  std::vector<int> cpus;
  for (const int cpu : allowed) {
    const std::string siblings = results::first_line(
        root / fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    if (siblings.empty() || seen.insert(siblings).second) cpus.push_back(cpu);
  }
  return cpus;
}

NeighbourFacts watch_neighbours(const std::vector<int>& cpus, std::chrono::milliseconds time) {
  NeighbourFacts facts;
  facts.seconds = Seconds(time).count();
  std::vector<CoreNoise> found(cpus.size());
  const auto before = processor_times("/proc/stat");
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      threads.emplace_back([&, i] { found[i] = watch(cpus[i], time); });
    }
  }
  const auto after = processor_times("/proc/stat");
  for (const CoreNoise& core : found) {
    if (core.lost >= 0) facts.cores.push_back(core);
  }
  if (before.contains("cpu") && after.contains("cpu")) {
    const ProcessorTimes& then = before.at("cpu");
    const ProcessorTimes& now = after.at("cpu");
    if (now.total > then.total)
      facts.stolen = (now.stolen - then.stolen) / (now.total - then.total);
  }
  return facts;
}

Findings judge_neighbours(const NeighbourFacts& facts) {
  if (facts.cores.empty()) {
    return {not_checked("neighbours", "no core may be bound to"), judge_stolen(facts)};
  }
  return {judge_cores(facts), judge_stolen(facts)};
}

}  // namespace tandem::doctor
