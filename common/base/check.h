// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/error.h"

// A precondition, checked in all builds: throws a logic error that names the place.
#define TANDEM_CHECK(condition, ...)                                                       \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      ::tandem::fail(::tandem::ErrorKind::kLogic, "{}:{}: {} does not hold: {}", __FILE__, \
                     __LINE__, #condition, ::fmt::format(__VA_ARGS__));                    \
    }                                                                                      \
  } while (false)
