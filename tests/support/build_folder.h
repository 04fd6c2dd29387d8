// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "common/base/this_process.h"

namespace tandem::test {

// Where bin, lib and share lie, for a test program in tests/bin: the build folder, or its copy in
// an archive of tools/bundle (tests/elf), which is why tests do not get it when they are
// built.
[[nodiscard]] inline std::filesystem::path build_folder() {
  return program_file().parent_path().parent_path().parent_path();
}

}  // namespace tandem::test
