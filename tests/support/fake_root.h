// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_folder.h"

namespace tandem::test {

// A file system of its own that stands in for a node's.
class FakeRoot {
 public:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_ / "root"; }

 private:
  ScratchFolder folder_;
};

}  // namespace tandem::test
