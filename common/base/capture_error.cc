// SPDX-License-Identifier: Apache-2.0
#include "common/base/capture_error.h"

namespace tandem {

std::optional<Error> capture_error(const std::function<void()>& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error& error) {
    return error.reworded(error.what());
  } catch (const std::exception& error) {
    return Error(ErrorKind::kFailure, error.what());
  }
}

}  // namespace tandem
