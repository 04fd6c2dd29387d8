// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "common/model/workload.h"
#include "tests/support/build_folder.h"

namespace tandem::test {

// The text of a file of tests/workloads, "by-flops" or "tokens".
[[nodiscard]] inline std::string workload_text(const std::string& name) {
  const auto path = build_folder() / "tests/workloads" / (name + ".json");
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

[[nodiscard]] inline Workload workload(const std::string& name) {
  return parse_workload(workload_text(name), name);
}

}  // namespace tandem::test
