// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device.h"
#include "common/runtime/timer.h"

namespace tandem {

// Makes a timer on the machine's own clock, for every platform that runs in real time. Returns once
// the timer's thread is bound to the device; throws where no such thread can be had.
[[nodiscard]] std::unique_ptr<Timer> make_thread_timer(Device& device, Nanoseconds period,
                                                       TimerCallback callback);

}  // namespace tandem
