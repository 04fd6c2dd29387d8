// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/step_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/options/strategies.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

double beside_tensors(int devices) { return kLibraries + (devices > 1 ? kCommunicator : 0); }

bool exchanges(std::string_view strategy) {
  return strategy == name_of(kDp) || strategy == name_of(kDdp);
}

}  // namespace

Bytes DevicePeak::tensors(std::int64_t samples) const {
  const std::int64_t held = (samples + pieces - 1) / pieces;
  return Bytes{std::llround(constant + sample * static_cast<double>(held))};
}

Bytes DevicePeak::needed(std::int64_t samples) const {
  return Bytes{std::llround(kGaps * static_cast<double>(tensors(samples).value) + beside * kGib)};
}

std::int64_t DevicePeak::most_samples(Bytes memory) const {
  const double tensors = (static_cast<double>(memory.value) - beside * kGib) / kGaps - constant;
  if (sample > 0) return pieces * std::max(static_cast<std::int64_t>(tensors / sample), 0L);
  return tensors < 0 ? 0 : kAnySamples;
}

StepPeaks peaks_of_module(const ModuleFacts& facts, std::string_view strategy, int devices) {
  const auto sample = static_cast<double>(facts.sample_bytes);
  const auto batch = static_cast<double>(facts.batch);
  const bool has_others = devices > 1 && exchanges(strategy);
  const auto line = [&](std::int64_t peak, double slope) {
    return DevicePeak{static_cast<double>(peak) - slope * batch, slope,
                      beside_tensors(has_others ? devices : 1)};
  };
  if (!has_others) return {line(facts.peak_bytes, sample)};
  const WrappedPeaks& wrapped = facts.wrapped;
  if (strategy == name_of(kDdp)) return {line(wrapped.ddp, sample)};
  // Device 0 gets what every device returns for its samples.
  const std::int64_t root = wrapped.dp_root + wrapped.dp_device * (devices - 2);
  const double gathered = static_cast<double>(wrapped.dp_device * devices) / batch;
  return {line(root, sample + gathered), line(wrapped.dp_other, sample)};
}

StepPeaks peaks_of_steps(const results::LaunchRecord& one, const results::LaunchRecord& two) {
  if (one.memory.empty() || two.memory.empty()) return {};
  const auto line = [&](const results::DeviceMemory& less, const results::DeviceMemory& more) {
    const auto sample = static_cast<double>(more.peak_bytes - less.peak_bytes);
    const bool is_exchanged = exchanges(one.cell.strategy);
    return DevicePeak{static_cast<double>(less.peak_bytes) - sample, sample,
                      beside_tensors(is_exchanged ? one.cell.devices : 1)};
  };
  StepPeaks peaks{line(one.memory.front(), two.memory.front())};
  if (one.memory.size() > 1) peaks.push_back(line(one.memory.back(), two.memory.back()));
  return peaks;
}

std::int64_t most_samples(const StepPeaks& peaks, Bytes memory) {
  const auto least = std::ranges::min_element(
      peaks, {}, [memory](const DevicePeak& peak) { return peak.most_samples(memory); });
  return least == peaks.end() ? 0 : least->most_samples(memory);
}

std::string why_not_fitting(const StepPeaks& peaks, std::int64_t samples, int devices,
                            Bytes memory) {
  const auto most = std::ranges::max_element(
      peaks, {}, [samples](const DevicePeak& peak) { return peak.needed(samples); });
  if (most == peaks.end() || most->needed(samples) <= memory) return "";
  const std::int64_t fitting = most_samples(peaks, memory);
  return fmt::format("out of memory: a step needs {} of {}; {}", to_string(most->needed(samples)),
                     to_string(memory),
                     fitting > 0 ? fmt::format("the largest batch that fits is {}, {} on a device",
                                               fitting * devices, fitting)
                                 : std::string("no batch fits"));
}

}  // namespace tandem::cli
