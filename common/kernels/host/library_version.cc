// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/library_version.h"

#include <fmt/format.h>

#include "common/kernels/host/library_calls.h"

namespace tandem {

std::string kernel_library_version() {
  const dnnl::version_t* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}, {}", version->major, version->minor, version->patch,
                     host::effective_instruction_set().name);
}

}  // namespace tandem
