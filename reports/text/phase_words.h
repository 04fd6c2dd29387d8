// SPDX-License-Identifier: Apache-2.0
//
// What a device does in a phase, for readers who do not know the phases' names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/phases.h"

namespace tandem::reports {

struct PhaseWords {
  std::string_view name;
  std::string_view doing;  // goes on from "spends 27 % of its step"
};

inline constexpr auto kPhaseWords = std::to_array<PhaseWords>({
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

// The words of a phase; the name itself where there are none, as of an older version's phase.
[[nodiscard]] constexpr std::string_view doing_in(std::string_view phase) {
  const auto* const found = std::ranges::find(kPhaseWords, phase, &PhaseWords::name);
  return found == kPhaseWords.end() ? phase : found->doing;
}

}  // namespace tandem::reports
