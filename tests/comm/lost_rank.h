// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/comm/bootstrap.h"

namespace tandem::test {

// A job of which rank 1 is lost in one of the ways below while the others wait for it in an
// all-reduce: not a test, but what a test of the job's end starts. `how` is WAY:TRANSPORT, such as
// "killed:shared_memory"; ways are killed, stopped (both by a signal), absent (in time, but never
// in the collective) and aborted. The communicator's deadline is a second, but a minute for the
// ways that must be noticed without: killed and aborted.
void lose_a_rank(Bootstrap& bootstrap, std::string_view how);

}  // namespace tandem::test
