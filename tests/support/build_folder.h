// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tandem::test {

// Where bin, lib and share lie, for a test program in tests/bin: the build folder, or its copy in
// an archive of tools/bundle, which is why tests are not told of it when they are built.
[[nodiscard]] inline std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();
}

}  // namespace tandem::test
