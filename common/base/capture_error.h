// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "common/base/error.h"

namespace tandem {

// Runs `body` and returns its exception as an Error. Errors cross threads by value: the reference
// count of an exception_ptr lies in uninstrumented code, where ThreadSanitizer cannot see the
// count.
[[nodiscard]] std::optional<Error> capture_error(const std::function<void()>& body);

}  // namespace tandem
