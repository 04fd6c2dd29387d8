// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/tandem/doctor/control_group.h"

namespace tandem::doctor {
namespace {

namespace fs = std::filesystem;

constexpr double kGiB = 1 << 30;
constexpr double kUnlimited = 9e18;  // version 1 writes a number of this size for "no limit"
constexpr double kWarnedLeft = 2 * kGiB;
constexpr double kLeastLeft = kGiB / 2;
constexpr double kWarnedSwapped = kGiB / 16;

std::string gib(double bytes) { return fmt::format("{:.3g} GiB", bytes / kGiB); }

std::optional<double> kilobytes(const fs::path& meminfo, const char* key) {
  const auto number = number_of(meminfo, key);
  return number ? std::optional(*number * 1024) : std::nullopt;
}

// The number in the first file that exists, version 2's or version 1's.
std::optional<double> either(const fs::path& group, const char* two, const char* one) {
  const auto number = number_in(group / two);
  return number ? number : number_in(group / one);
}

// The group's used memory without the cache of files, which the kernel gives up first.
std::optional<double> used_by(const fs::path& group) {
  const auto used = either(group, "memory.current", "memory.usage_in_bytes");
  if (!used) return std::nullopt;
  const auto cache = number_of(group / "memory.stat", "total_inactive_file");
  return *used - cache.value_or(number_of(group / "memory.stat", "inactive_file").value_or(0));
}

Finding judge_left(const MemoryFacts& facts) {
  double left = *facts.available;
  std::string text = fmt::format("{} left of {}", gib(left), gib(facts.total.value_or(left)));
  if (facts.limit) {
    const double in_group = std::max(0.0, *facts.limit - facts.used.value_or(0));
    text += fmt::format("; the control group's limit of {} leaves {}", gib(*facts.limit),
                        gib(in_group));
    left = std::min(left, in_group);
  }
  const char* const advice =
      "end what uses the memory, or give the container or job more; host devices share what is "
      "left";
  if (left < kLeastLeft) return problem("memory", text, advice);
  if (left < kWarnedLeft) return warning("memory", text, advice);
  return ok("memory", text);
}

}  // namespace

MemoryFacts gather_memory(const fs::path& root) {
  const fs::path meminfo = root / "proc/meminfo";
  MemoryFacts facts;
  facts.total = kilobytes(meminfo, "MemTotal");
  facts.available = kilobytes(meminfo, "MemAvailable");
  const auto swap = kilobytes(meminfo, "SwapTotal");
  const auto free = kilobytes(meminfo, "SwapFree");
  if (swap && free) facts.swapped = *swap - *free;
  for (const fs::path& group : control_groups(root, "memory")) {
    const auto limit = either(group, "memory.max", "memory.limit_in_bytes");
    if (!limit || *limit >= kUnlimited || (facts.limit && *facts.limit <= *limit)) continue;
    facts.limit = limit;
    facts.used = used_by(group);
  }
  return facts;
}

Findings judge_memory(const MemoryFacts& facts) {
  if (!facts.available) return {not_checked("memory", "/proc/meminfo does not tell")};
  Findings findings{judge_left(facts)};
  if (facts.swapped.value_or(0) >= kWarnedSwapped) {
    findings.push_back(
        warning("swap", gib(*facts.swapped) + " are swapped out",
                "what comes back is read from disk inside a step: end what fills the "
                "memory, then swapoff -a"));
  }
  return findings;
}

}  // namespace tandem::doctor
