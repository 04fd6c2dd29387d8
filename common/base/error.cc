// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"

namespace tandem {

Error::Error(ErrorKind kind, const std::string& message, Reach reach)
    : std::runtime_error(message), kind_(kind), reach_(reach) {}

int Error::exit_code() const { return kind_ == ErrorKind::kUsage ? 2 : 1; }

}  // namespace tandem
