// SPDX-License-Identifier: Apache-2.0
#include "common/base/host_name.h"

#include <unistd.h>

#include <array>

namespace tandem {

std::string host_name() {
  std::array<char, 256> name{};  // zeros end a name that is cut off
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tandem
