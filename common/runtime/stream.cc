// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/stream.h"

#include "common/runtime/interpreter.h"

namespace tandem {

void check_placement(std::string_view operation, DeviceId device,
                     std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    if (access.place == Access::Place::kRemote || access.size.value == 0) continue;
    if (access.device == device) continue;
    fail(ErrorKind::kLogic,
         "{} runs on {} but {} an operand on {}: copy it over first, or declare the access remote",
         operation, to_string(device), access.mode == Access::Mode::kRead ? "reads" : "writes",
         to_string(access.device));
  }
}

void Stream::dispatch(Interpreter& interpreter, DispatchKind kind, int calls) {
  const TimePoint over = interpreter.dispatch(kind, calls);
  if (interpreter.takes_time()) start_after(over);
}

}  // namespace tandem
