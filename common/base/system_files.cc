// SPDX-License-Identifier: Apache-2.0
#include "common/base/system_files.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/text.h"
#include "common/base/units.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

bool lists(std::string_view controllers, std::string_view controller) {
  const std::vector<std::string_view> names = split(controllers, ',');
  return std::ranges::find(names, controller) != names.end();
}

// Adds the folders from a group up to the root of its hierarchy. In a container the group's path
// may be the host's path, which does not exist inside: only the folders that exist are added.
void add_with_parents(const fs::path& hierarchy, fs::path group, std::vector<fs::path>& folders) {
  std::error_code ignored;
  for (; group.has_relative_path(); group = group.parent_path()) {
    const fs::path folder = hierarchy / group.relative_path();
    if (fs::is_directory(folder, ignored)) folders.push_back(folder);
  }
  if (fs::is_directory(hierarchy, ignored)) folders.push_back(hierarchy);
}

}  // namespace

std::vector<fs::path> control_groups(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  const fs::path top = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  // A line is "4:memory:/a/b" in version 1, "0::/a/b" in version 2.
  for (std::string number, controllers, group; std::getline(file, number, ':') &&
                                               std::getline(file, controllers, ':') &&
                                               std::getline(file, group);) {
    if (controllers.empty()) {
      add_with_parents(top, group, folders);
    } else if (lists(controllers, controller)) {
      add_with_parents(top / controller, group, folders);
    }
  }
  return folders;
}

std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

std::string text_behind(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view whole = line;
    if (trimmed(whole.substr(0, colon)) == key)
      return std::string(trimmed(whole.substr(colon + 1)));
  }
  return "";
}

std::optional<double> number_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double number = 0;
    if ((words >> name >> number) && (name == key || name == key + ":")) return number;
  }
  return std::nullopt;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<int> cpus_of(std::string_view list) {
  std::vector<int> cpus;
  for (const std::string_view part : split(list, ',')) {
    const std::vector<std::string_view> ends = split(part, '-');
    const auto first = parse_number<int>(ends.front());
    const auto last = parse_number<int>(ends.back());
    if (!first || !last) continue;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::map<std::string, ProcessorTimes> processor_times(const fs::path& stat) {
  std::map<std::string, ProcessorTimes> found;
  std::ifstream file(stat);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || !name.starts_with("cpu")) continue;
    // user nice system idle iowait irq softirq steal; user and nice include guests' times.
    constexpr int kSystem = 2;
    constexpr int kSteal = 7;
    ProcessorTimes times;
    double ticks = 0;
    int column = 0;
    for (; column <= kSteal && words >> ticks; ++column) {
      times.total += ticks;
      if (column <= kSystem) times.busy += ticks;
      if (column == kSteal) times.stolen = ticks;
    }
    if (column > kSteal) found[name] = times;
  }
  return found;
}

}  // namespace tandem
