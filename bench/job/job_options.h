// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job/job.h"
#include "common/options/values.h"

namespace tandem::bench {

// Gives a job of processes as many devices as the launcher started ranks, unless --devices says.
void give_devices_started(options::Values& values);

// What a command line says of the machine that a job asks for, the same for every program. Options
// that a program does not declare have their defaults. Throws usage errors.
//
// --comm-timeout is divided into two waits, so that every rank has ended by then: a rank's patience
// with other ranks (the communicator's deadline), and the grace in which ranks that gave up leave
// each other time to say so.
[[nodiscard]] JobOptions job_options(const options::Values& values);

}  // namespace tandem::bench
