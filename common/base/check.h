// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/error.h"

// Precondition of a call, checked in all builds: throws a logic error that names the place.
// Usage: TANDEM_CHECK(count >= 0, "count is {}", count).
#define TANDEM_CHECK(condition, ...)                                                       \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      ::tandem::fail(::tandem::ErrorKind::kLogic, "{}:{}: {} does not hold: {}", __FILE__, \
                     __LINE__, #condition, ::fmt::format(__VA_ARGS__));                    \
    }                                                                                      \
  } while (false)
