// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device.h"
#include "common/runtime/timer.h"

namespace tandem {

// A timer on the machine's own clock: what every platform uses that runs in real time. Returns once
// its thread is bound to the device; throws where there can be none.
[[nodiscard]] std::unique_ptr<Timer> make_thread_timer(Device& device, Nanoseconds period,
                                                       TimerCallback callback);

}  // namespace tandem
