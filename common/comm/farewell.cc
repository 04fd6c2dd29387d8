// SPDX-License-Identifier: Apache-2.0
#include "common/comm/farewell.h"

#include "common/runtime/host/parking.h"

namespace tandem {

void Farewell::say(const Error& error) const {
  if (on_error) on_error(error);
}

// Only a communication error waits: an error of this rank's own needs no other rank's report.
void Farewell::wait(const Error& error) const {
  if (error.kind() == ErrorKind::kCommunication) host::sleep_until(Clock::now() + grace);
  if (on_end) on_end();
}

}  // namespace tandem
