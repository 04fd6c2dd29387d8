// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "common/base/error.h"

namespace tandem::test {

// What `body` throws; a failed test and an empty logic error where it throws nothing.
[[nodiscard]] inline Error error_of(const std::function<void()>& body) {
  if (const auto error = capture_error(body)) return *error;
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorKind::kLogic, ""};
}

[[nodiscard]] inline bool mentions(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

}  // namespace tandem::test
