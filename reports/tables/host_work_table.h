// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per part of the host's work and cell of PyTorch's on pretended GPUs, then one per kind of
// thread: wall time, the thread's CPU time, its wait for a core, and the rest, which is the wait
// for the interpreter's lock or another thread. Means over launches; no rows where no launch tells.
[[nodiscard]] TextTable host_work_table(const Summary& summary);

}  // namespace tandem::reports
