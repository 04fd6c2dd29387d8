// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/cores.h"

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

// cpu.max of version 2 holds "150000 100000", version 1 has a file for each of the two numbers;
// "max" and -1 mean no quota.
std::optional<double> quota_of(const fs::path& group) {
  std::ifstream both(group / "cpu.max");
  double quota = 0, period = 0;
  if (both >> quota >> period) return quota / period;
  const auto quota_1 = number_in(group / "cpu.cfs_quota_us");
  const auto period_1 = number_in(group / "cpu.cfs_period_us");
  if (!quota_1 || !period_1 || *quota_1 <= 0 || *period_1 <= 0) return std::nullopt;
  return *quota_1 / *period_1;
}

std::string cores_text(const CoreFacts& facts) {
  return fmt::format("{} ({}) of {}", count_text(facts.cores, "core"),
                     count_text(std::ssize(facts.allowed), "hardware thread"), facts.model);
}

Finding judge_number(const CoreFacts& facts) {
  if (facts.cores > 1) return ok("cores", cores_text(facts));
  return warning("cores", cores_text(facts) + ": host devices are cores, a device each",
                 "give Tandem 2 cores or more to compare anything on the CPU; on GPUs, 2 per GPU");
}

Finding judge_binding(const CoreFacts& facts) {
  const int allowed = static_cast<int>(facts.allowed.size());
  if (facts.online == 0) return not_checked("binding", "/sys does not say which CPUs are online");
  if (allowed >= facts.online) {
    return ok("binding", "this process may use all hardware threads; Tandem binds its own");
  }
  return warning(
      "binding",
      fmt::format("this process may use {} of {} hardware threads (taskset, cpuset, a "
                  "launcher or a scheduler); so may all that it starts",
                  allowed, facts.online),
      "if that is not meant, start it without taskset or mpirun, or ask the scheduler or "
      "the container for more");
}

// A group that has used up its quota is stopped until the next period, in the middle of a step.
Finding judge_quota(const CoreFacts& facts) {
  if (!facts.quota) return ok("cpu quota", "none");
  const std::string text = fmt::format("{:.4g} cores' worth of time for {} hardware threads",
                                       *facts.quota, facts.allowed.size());
  if (*facts.quota < static_cast<double>(facts.allowed.size())) {
    return problem("cpu quota",
                   text + fmt::format(": threads are stopped when it is used up, in the middle of "
                                      "steps ({:.0f} times so far)",
                                      facts.throttled),
                   "give the container whole cores (docker --cpuset-cpus, Kubernetes' static CPU "
                   "manager) in place of a quota (--cpus, limits.cpu)");
  }
  return ok("cpu quota", text);
}

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

Finding judge_noise(const NeighbourFacts& facts) {
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
  if (!facts.stolen) return not_checked(subject, "/proc/stat does not report it");
  const std::string text =
      fmt::format("{:.1f} % of the time went to other virtual machines", *facts.stolen * 100);
  const char* const advice = "use a machine with cores of its own (dedicated or bare metal)";
  if (*facts.stolen >= kMostStolen) return problem(subject, text, advice);
  if (*facts.stolen >= kWarnedStolen) return warning(subject, text, advice);
  return ok(subject, text);
}

}  // namespace

CoreFacts gather_cores(const fs::path& root, std::vector<int> allowed) {
  const fs::path system = root / "sys/devices/system/cpu";
  CoreFacts facts;
  facts.model = text_behind(root / "proc/cpuinfo", "model name");
  if (facts.model.empty()) facts.model = "a CPU that does not name itself";
  facts.online = static_cast<int>(cpus_of(first_line(system / "online")).size());
  facts.cores = results::physical_cores(allowed, system);
  facts.allowed = std::move(allowed);
  for (const fs::path& group : control_groups(root, "cpu")) {
    const auto quota = quota_of(group);
    if (!quota || (facts.quota && *facts.quota <= *quota)) continue;
    facts.quota = quota;
    facts.throttled = number_of(group / "cpu.stat", "nr_throttled").value_or(0);
  }
  return facts;
}

Findings judge_cores(const CoreFacts& facts) {
  if (facts.allowed.empty()) {
    return {not_checked("cores", "the system does not say which CPUs this process may use")};
  }
  return {judge_number(facts), judge_binding(facts), judge_quota(facts)};
}

FrequencyFacts gather_frequency(const fs::path& root, const std::vector<int>& allowed) {
  FrequencyFacts facts;
  for (const int cpu : allowed) {
    const std::string governor = first_line(
        root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!governor.empty()) ++facts.governors[governor];
  }
  return facts;
}

Findings judge_frequency(const FrequencyFacts& facts) {
  const std::string subject = "frequency";
  if (facts.governors.empty()) {
    return {
        not_checked(subject, "the system does not report its governor (virtual machines do not)")};
  }
  const auto fixed = facts.governors.find("performance");
  if (facts.governors.size() == 1 && fixed != facts.governors.end()) {
    return {ok(subject, "governor performance")};
  }
  std::string found;
  for (const auto& [governor, threads] : facts.governors) {
    found += fmt::format("{}{} on {}", found.empty() ? "" : ", ", governor, threads);
  }
  return {
      warning(subject,
              fmt::format("governor {} hardware threads: cores may be slow at the start of what "
                          "is measured",
                          found),
              "as root: cpupower frequency-set --governor performance")};
}

std::vector<int> one_thread_per_core(const fs::path& root, const std::vector<int>& allowed) {
  std::set<std::string> seen;
  std::vector<int> cpus;
  for (const int cpu : allowed) {
    const std::string siblings = first_line(
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
  return {judge_noise(facts), judge_stolen(facts)};
}

}  // namespace tandem::doctor
