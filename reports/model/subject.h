// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The first words of every verdict: the hardware behind the figures, without a full stop.
[[nodiscard]] std::string subject(const results::Document& document, const Summary& summary);

// The machine facts of the launch that saw the most cores; empty where no launch measured.
[[nodiscard]] results::MachineFacts machine_of(const results::Document& document);

}  // namespace tandem::reports
