// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/driver/sampler.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/farewell.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// One rank of a job, a thread or a process, with what a benchmark on that rank uses.
struct Rank {
  Bootstrap& bootstrap;
  Platform& platform;
  Device& device;
  Communicator& communicator;
  Clocks clocks = Clocks::kCommon;
  Farewell farewell{};  // the last words of a rank that cannot go on
};

}  // namespace tandem::bench
