// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

// A fact of the trace by its name; "?" where the trace lacks the fact.
[[nodiscard]] std::string fact(const Trace& trace, const std::string& name);

// The traced subject in one line: "ddp as processes, mlp-base on 2 devices (host), global batch
// 64".
[[nodiscard]] std::string subject_of(const Trace& trace);

}  // namespace tandem::timeline
