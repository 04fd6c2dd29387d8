// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/frequency.h"

#include <fmt/format.h>

#include "common/results/system_files.h"

namespace tandem::doctor {

FrequencyFacts gather_frequency(const std::filesystem::path& root,
                                const std::vector<int>& allowed) {
  FrequencyFacts facts;
  for (const int cpu : allowed) {
    const std::string governor = results::first_line(
        root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!governor.empty()) ++facts.governors[governor];
  }
  return facts;
}

Findings judge_frequency(const FrequencyFacts& facts) {
  const std::string subject = "frequency";
  if (facts.governors.empty()) {
    return {
        not_checked(subject, "the system does not tell its governor (virtual machines do not)")};
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

}  // namespace tandem::doctor
