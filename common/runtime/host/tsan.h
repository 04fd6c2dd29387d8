// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/stream.h"

namespace tandem::host {

// Tells ThreadSanitizer of a declared access, on the thread that is about to make the access: work
// inside a library is invisible to ThreadSanitizer otherwise. Does nothing in other builds, where
// accesses need not be kept until then.
void report_access(const Access& access);
[[nodiscard]] bool reports_accesses();

}  // namespace tandem::host
