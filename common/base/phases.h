// SPDX-License-Identifier: Apache-2.0
//
// The one table of a step's phases: their names, which traces, results and reports share, and their
// colours in pictures.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem {

// The phases of a device partition the device's own timeline; kIdle is waiting for another device
// or rank.
enum class Phase {
  kLaunch,
  kCheck,
  kScatter,
  kInput,
  kBuffers,
  kReplicate,
  kForward,
  kGather,
  kLoss,
  kScatterGrad,
  kBackward,
  kBucketCopy,
  kReduce,
  kExposedComm,
  kUpdate,
  kIdle,
};

struct PhaseTraits {
  Phase phase;
  std::string_view name;
  std::string_view colour;  // muted where a single device does such work too
};

// In the order of Phase, which is the order of a step.
inline constexpr auto kPhases = std::to_array<PhaseTraits>({
    {Phase::kLaunch, "launch", "#8c564b"},        // dp starts and joins threads
    {Phase::kCheck, "check", "#c49c94"},          // dp: whether each parameter is on device 0
    {Phase::kScatter, "scatter", "#e0a030"},      // dp sends pieces of the input to devices
    {Phase::kInput, "input", "#b7bdc7"},          // a rank's own batch goes to its device
    {Phase::kBuffers, "buffers", "#a07cc5"},      // ddp sends the model's buffers from rank 0
    {Phase::kReplicate, "replicate", "#d2691e"},  // dp sends weights to devices
    {Phase::kForward, "forward", "#7fa7c9"},
    {Phase::kGather, "gather", "#e8c468"},  // dp collects outputs on device 0
    {Phase::kLoss, "loss", "#a9c4da"},
    {Phase::kScatterGrad, "scatter_grad", "#b8860b"},  // dp sends gradients of outputs to devices
    {Phase::kBackward, "backward", "#4f7ea8"},
    {Phase::kBucketCopy, "bucket_copy", "#8e6bbf"},    // ddp copies gradients out of buckets
    {Phase::kReduce, "reduce", "#b03a2e"},             // dp sums gradients on device 0
    {Phase::kExposedComm, "exposed_comm", "#c2418c"},  // ddp waits for what backward did not hide
    {Phase::kUpdate, "update", "#8b93a1"},
    {Phase::kIdle, "idle", "#d9a7b0"},
});

inline constexpr std::size_t kPhaseCount = kPhases.size();

inline constexpr auto kPhaseNames = [] {
  std::array<std::string_view, kPhaseCount> names{};
  std::ranges::transform(kPhases, names.begin(), &PhaseTraits::name);
  return names;
}();

[[nodiscard]] constexpr std::string_view name_of(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

// The phase of that name; null for any other text, such as an older version's phase.
[[nodiscard]] constexpr const PhaseTraits* find_phase(std::string_view name) {
  const auto* const found = std::ranges::find(kPhases, name, &PhaseTraits::name);
  return found == kPhases.end() ? nullptr : found;
}

}  // namespace tandem
