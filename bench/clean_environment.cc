// SPDX-License-Identifier: Apache-2.0
#include "bench/clean_environment.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::bench {
namespace {

bool changes_the_measurement(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kPrefixes{"BENCHMARK_", "OMP_", "GOMP_", "KMP_",
                                                      "OPENBLAS_",  "MKL_", "DNNL_", "ONEDNN_"};
  for (const std::string_view prefix : kPrefixes) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

void restart_in_clean_environment(char** argv) {
  std::vector<char*> kept;
  std::string ignored;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (changes_the_measurement(*variable)) {
      ignored.append(" ").append(*variable, std::strcspn(*variable, "="));
    } else {
      kept.push_back(*variable);
    }
  }
  if (ignored.empty()) return;
  std::fprintf(stderr, "ignored, as they would change what is measured:%s\n", ignored.c_str());
  kept.push_back(nullptr);
  execve("/proc/self/exe", argv, kept.data());
  // Not restarted: what they change shows in the record (the library's instruction set, the cores).
}

}  // namespace tandem::bench
