// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/signal_name.h"

#include <fmt/format.h>

#include <cstring>

namespace tandem::cli {

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace tandem::cli
