// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/taken_time.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <tuple>

#include "common/base/system_files.h"
#include "common/json/fields.h"
#include "common/json/parse.h"

namespace tandem::bench {

constexpr auto json_fields(const ProcessShare::Group*) {
  using G = ProcessShare::Group;
  return std::tuple(field("cpus", &G::cpus), field("ran", &G::ran), field("waited", &G::waited));
}

constexpr auto json_fields(const ProcessShare::Cpu*) {
  using C = ProcessShare::Cpu;
  return std::tuple(field("number", &C::number), field("busy", &C::busy),
                    field("stolen", &C::stolen));
}

constexpr auto json_fields(const ProcessShare*) {
  using S = ProcessShare;
  return std::tuple(field("window", &S::window), field("groups", &S::groups),
                    field("cpus", &S::cpus), field("throttled", &S::throttled),
                    field("slowest_mhz", &S::slowest_mhz),
                    field("involuntary_switches", &S::involuntary_switches),
                    field("major_faults", &S::major_faults));
}

namespace {

namespace fs = std::filesystem;

// The nanoseconds that the thread ran, and those that it waited, are the first two numbers of its
// schedstat (Linux, Documentation/scheduler/sched-stats.rst).
std::optional<KernelCounters::Thread> thread_in(const fs::path& task) {
  std::ifstream file(task / "schedstat");
  double ran = 0;
  double waited = 0;
  if (!(file >> ran >> waited)) return std::nullopt;
  return KernelCounters::Thread{.cpus = cpus_of(text_behind(task / "status", "Cpus_allowed_list")),
                                .ran = ran * 1e-9,
                                .waited = waited * 1e-9};
}

// throttled_usec of version 2, throttled_time in ns of version 1.
std::map<std::string, double> throttled_below(const fs::path& root) {
  std::map<std::string, double> by_group;
  for (const fs::path& group : control_groups(root, "cpu")) {
    const auto us = number_of(group / "cpu.stat", "throttled_usec");
    const auto ns = number_of(group / "cpu.stat", "throttled_time");
    if (us || ns) by_group[group.string()] = us ? *us * 1e-6 : *ns * 1e-9;
  }
  return by_group;
}

double cpu_seconds_of_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

// The launch's processes on one node, taken together.
class LaunchOnNode {
 public:
  explicit LaunchOnNode(const std::vector<ProcessShare>& processes) {
    for (const ProcessShare& process : processes) {
      groups_.insert(groups_.end(), process.groups.begin(), process.groups.end());
      for (const ProcessShare::Cpu& cpu : process.cpus) {
        ProcessShare::Cpu& most = cpus_.try_emplace(cpu.number, cpu).first->second;
        most.busy = std::max(most.busy, cpu.busy);
        most.stolen = std::max(most.stolen, cpu.stolen);
      }
    }
  }

  [[nodiscard]] std::optional<double> run_delay() const {
    return longest([this](const ProcessShare::Group& group) {
      return std::min(group.waited, std::max(0.0, taken_by_others(group.cpus)));
    });
  }

  [[nodiscard]] std::optional<double> steal() const {
    return longest([this](const ProcessShare::Group& group) {
      double stolen = 0;
      for (const int cpu : group.cpus) stolen += cpus_.at(cpu).stolen;
      return stolen / static_cast<double>(group.cpus.size());
    });
  }

 private:
  template <class OfGroup>
  [[nodiscard]] std::optional<double> longest(OfGroup seconds) const {
    std::optional<double> found;
    for (const ProcessShare::Group& group : groups_) {
      const bool is_told = !group.cpus.empty() && std::ranges::all_of(group.cpus, [this](int cpu) {
        return cpus_.contains(cpu);
      });
      if (is_told && group.ran > 0) found = std::max(found.value_or(0), seconds(group));
    }
    return found;
  }

  // On one of the CPUs, on average: a thread is not held up where another CPU is free.
  [[nodiscard]] double taken_by_others(const std::vector<int>& cpus) const {
    double others = 0;
    for (const int cpu : cpus) others += cpus_.at(cpu).busy;
    for (const ProcessShare::Group& group : groups_) {
      if (meet(group.cpus, cpus)) others -= group.ran;
    }
    return others / static_cast<double>(cpus.size());
  }

  std::vector<ProcessShare::Group> groups_;
  std::map<int, ProcessShare::Cpu> cpus_;
};

void keep_larger(std::optional<double>& most, const std::optional<double>& other) {
  if (other) most = std::max(most.value_or(*other), *other);
}

}  // namespace

KernelCounters read_counters(const fs::path& root) {
  KernelCounters counters;
  std::set<int> cpus;
  std::error_code none;  // without the folder nothing is known
  for (const auto& task : fs::directory_iterator(root / "proc/self/task", none)) {
    const auto thread = thread_in(task.path());
    if (!thread) continue;  // not readable, or just ended
    counters.threads[parse_number<int>(task.path().filename().string()).value_or(0)] = *thread;
    cpus.insert(thread->cpus.begin(), thread->cpus.end());
  }
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto all_times = processor_times(root / "proc/stat");
  for (const int cpu : cpus) {
    const auto times = all_times.find(fmt::format("cpu{}", cpu));
    if (times != all_times.end()) {
      counters.cpus[cpu] = {times->second.busy / per_second, times->second.stolen / per_second};
    }
    const auto khz =
        number_in(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
    if (!khz) continue;
    const double mhz = *khz * 1e-3;
    counters.slowest_mhz = std::min(counters.slowest_mhz.value_or(mhz), mhz);
  }
  counters.ran = cpu_seconds_of_process();
  counters.throttled = throttled_below(root);
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.major_faults = usage.ru_majflt;
  }
  return counters;
}

ProcessShare between(const KernelCounters& before, const KernelCounters& after, Seconds window) {
  std::map<std::vector<int>, ProcessShare::Group> groups;
  double ran = 0;
  for (const auto& [number, thread] : after.threads) {
    const auto known = before.threads.find(number);
    const KernelCounters::Thread earlier =
        known == before.threads.end() ? KernelCounters::Thread{} : known->second;
    ProcessShare::Group& group = groups[thread.cpus];
    group.ran += thread.ran - earlier.ran;
    group.waited = std::max(group.waited, thread.waited - earlier.waited);
    ran += thread.ran - earlier.ran;
  }
  ProcessShare share{
      .window = window.count(),
      .slowest_mhz = after.slowest_mhz,
      .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
      .major_faults = after.major_faults - before.major_faults};
  for (auto& [cpus, group] : groups) {
    group.cpus = cpus;
    share.groups.push_back(group);
  }
  for (const auto& [number, cpu] : after.cpus) {
    const auto earlier = before.cpus.find(number);
    if (earlier == before.cpus.end()) continue;
    share.cpus.push_back(
        {number, cpu.busy - earlier->second.busy, cpu.stolen - earlier->second.stolen});
  }
  // Threads that began and ended in between ran on any of these CPUs.
  const double of_ended = after.ran - before.ran - ran;
  if (of_ended > 0 && !share.cpus.empty()) {
    ProcessShare::Group& ended = share.groups.emplace_back();
    for (const ProcessShare::Cpu& cpu : share.cpus) ended.cpus.push_back(cpu.number);
    ended.ran = of_ended;
  }
  for (const auto& [group_path, seconds] : after.throttled) {
    const auto earlier = before.throttled.find(group_path);
    if (earlier != before.throttled.end()) keep_larger(share.throttled, seconds - earlier->second);
  }
  return share;
}

results::TakenTime taken_from(const std::vector<std::vector<ProcessShare>>& processes_by_node) {
  results::TakenTime taken;
  for (const std::vector<ProcessShare>& processes : processes_by_node) {
    const LaunchOnNode node(processes);
    keep_larger(taken.run_delay_seconds, node.run_delay());
    keep_larger(taken.steal_seconds, node.steal());
    for (const ProcessShare& process : processes) {
      taken.window_seconds = std::max(taken.window_seconds, process.window);
      keep_larger(taken.throttled_seconds, process.throttled);
      if (process.slowest_mhz) {
        taken.cpu_mhz =
            std::min(taken.cpu_mhz.value_or(*process.slowest_mhz), *process.slowest_mhz);
      }
      taken.involuntary_switches += process.involuntary_switches;
      taken.major_faults += process.major_faults;
    }
  }
  return taken;
}

void TakenTimeWatch::begin() {
  before_ = read_counters("/");
  begin_ = Clock::now();
}

void TakenTimeWatch::end() {
  const Seconds window = Clock::now() - begin_;
  found_ = between(before_, read_counters("/"), window);
}

results::TakenTime TakenTimeWatch::gather(Bootstrap& bootstrap, const NodeLayout& nodes) const {
  std::vector<std::vector<ProcessShare>> by_node(static_cast<std::size_t>(nodes.nodes()));
  const std::vector<std::string> by_rank = bootstrap.all_gather(json_line(found_));
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const JsonDocument share(JsonAuthor::kProgram, by_rank[rank], "a rank's share");
    by_node[static_cast<std::size_t>(nodes.node_of(static_cast<int>(rank)))].push_back(
        read_as<ProcessShare>(share.root()));
  }
  return taken_from(by_node);
}

}  // namespace tandem::bench
