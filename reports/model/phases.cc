// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "common/base/phases.h"
#include "reports/model/ladder.h"

namespace tandem::reports {
namespace {

// The phases of Tandem, and zero_grad, which PyTorch's steps have before idle.
constexpr auto kStepOrder = [] {
  std::array<std::string_view, kPhaseCount + 1> names{};
  std::ranges::copy(kPhaseNames, names.begin());
  names[kPhaseCount] = std::exchange(names[kPhaseCount - 1], "zero_grad");
  return names;
}();

// A device's work in a phase, for readers who do not know the phases' names.
struct PhaseWords {
  std::string_view name;
  std::string_view doing;  // goes on from "spends 27 % of its step"
};

constexpr auto kPhaseWords = std::to_array<PhaseWords>({
    {"launch", "starting and joining threads"},
    {"check", "checking where the parameters are"},
    {"scatter", "sending pieces of the batch from device 0"},
    {"input", "bringing the batch to its device"},
    {"buffers", "sending the model's buffers from rank 0"},
    {"replicate", "copying weights from device 0"},
    {"forward", "computing forward"},
    {"gather", "collecting outputs on device 0"},
    {"loss", "computing the loss"},
    {"scatter_grad", "sending gradients of outputs from device 0"},
    {"backward", "computing backward"},
    {"bucket_copy", "copying gradients between their own memory and buckets"},
    {"reduce", "adding gradients on device 0"},
    {"exposed_comm", "waiting for gradients to be exchanged"},
    {"update", "updating parameters"},
    {"idle", "waiting for other devices"},
});

static_assert(std::ranges::equal(kPhaseWords, kPhaseNames, {}, &PhaseWords::name));

std::size_t place_of(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kStepOrder, name) - kStepOrder.begin());
}

}  // namespace

const results::DevicePhases* critical_device(const results::LaunchRecord& record) {
  return record.critical.mean_seconds.empty() ? nullptr : &record.critical;
}

bool have_phases(const std::vector<const results::LaunchRecord*>& launches) {
  return !launches.empty() &&
         std::ranges::all_of(launches, [](const results::LaunchRecord* record) {
           return critical_device(*record) != nullptr;
         });
}

double phase_seconds(const results::DevicePhases& device, const std::string& name) {
  const auto found = device.mean_seconds.find(name);
  return found == device.mean_seconds.end() ? 0 : found->second;
}

std::string_view doing_in(std::string_view phase) {
  const auto* const found = std::ranges::find(kPhaseWords, phase, &PhaseWords::name);
  return found == kPhaseWords.end() ? phase : found->doing;
}

std::span<const std::string_view> step_phases() { return kStepOrder; }

std::vector<std::string> in_step_order(std::vector<std::string> names) {
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return std::pair(place_of(a), a) < std::pair(place_of(b), b);
  });
  return names;
}

std::vector<std::string> phases_in(const Summary& summary) {
  std::set<std::string> names;
  for (const CellSummary& cell : summary.cells) {
    for (const PhaseMean& phase : cell.phases) names.insert(phase.name);
  }
  return in_step_order({names.begin(), names.end()});
}

std::vector<PhaseMean> mean_phases(const std::vector<const results::LaunchRecord*>& launches) {
  std::map<std::string, double> sums;
  int counted = 0;
  for (const results::LaunchRecord* record : launches) {
    const results::DevicePhases* device = critical_device(*record);
    if (device == nullptr) continue;
    ++counted;
    for (const auto& [name, seconds] : device->mean_seconds) sums[name] += seconds;
  }
  std::vector<std::string> names;
  for (const auto& [name, sum] : sums) names.push_back(name);
  std::vector<PhaseMean> means;
  for (const std::string& name : in_step_order(names)) {
    means.push_back({.name = name, .seconds = sums.at(name) / counted});
  }
  return means;
}

namespace {

using results::LaunchRecord;

// A phase that makes up less of the difference does not explain it.
constexpr double kLeastPart = 1.0 / 3;

std::string percents(const std::vector<const Reason*>& reasons) {
  const auto [least, most] = std::ranges::minmax_element(reasons, {}, &Reason::share);
  const std::string low = fmt::format("{:.0f}", 100 * (*least)->share);
  const std::string high = fmt::format("{:.0f}", 100 * (*most)->share);
  return low == high ? low : low + " to " + high;
}

}  // namespace

std::optional<Reason> reason_of(const StrategyPair& pair) {
  if (pair.ddp_verdict == stats::Verdict::kNotResolved) return std::nullopt;
  const bool is_ddp_faster = pair.ddp_verdict == stats::Verdict::kFaster;
  const CellSummary& slower = is_ddp_faster ? *pair.dp : *pair.ddp;
  const CellSummary& faster = is_ddp_faster ? *pair.ddp : *pair.dp;
  if (!have_phases(slower.measured) || !have_phases(faster.measured)) return std::nullopt;
  Reason reason{.slower = &slower, .phase = {}};
  for (const PhaseMean& phase : slower.phases) {
    const stats::Estimate more =
        difference(slower.measured, faster.measured, [&](const LaunchRecord& record) {
          return phase_seconds(*critical_device(record), phase.name);
        });
    if (more.center <= reason.more.center || !stats::is_resolved(more)) continue;
    reason.phase = phase.name;
    reason.more = more;
    reason.share = phase.seconds / slower.mean_step.center;
  }
  const double gap = slower.mean_step.center - faster.mean_step.center;
  if (reason.more.center < kLeastPart * gap) reason.phase.clear();
  return reason;
}

std::string because(const std::vector<Reason>& reasons) {
  if (reasons.empty()) return "";
  std::map<std::string, std::vector<const Reason*>> by_phase;
  for (const Reason& reason : reasons) {
    if (!reason.phase.empty()) by_phase[reason.phase].push_back(&reason);
  }
  if (by_phase.empty()) return " Why is open: no phase makes up a third of the difference.";
  const auto& [phase, alike] = *std::ranges::max_element(
      by_phase, {}, [](const auto& entry) { return entry.second.size(); });
  const std::string where =
      alike.size() == reasons.size()
          ? ""
          : fmt::format(", in {} of {} comparisons", alike.size(), reasons.size());
  return fmt::format(" The largest part of the difference: {} spends {} % of its step {}{}.",
                     alike.front()->slower->cell.strategy, percents(alike), doing_in(phase), where);
}

}  // namespace tandem::reports
