// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// The host's name, as the machine itself gives it. Thread-safe.
[[nodiscard]] std::string host_name();

// The file of this program; empty without /proc. /proc/self/exe does not serve: where the program
// is started through the dynamic loader ("ld-linux-x86-64.so.2 program"), as in an archive of
// tools/bundle, that link names the loader.
[[nodiscard]] std::filesystem::path program_file();

// The file that starts the program of `file` with the program's own libraries: in an archive, where
// programs lie in elf/, the launcher of the same name in bin/ beside elf/; else `file`.
[[nodiscard]] std::filesystem::path starter_of(const std::filesystem::path& file);

// The file that starts this program again.
[[nodiscard]] std::filesystem::path program_starter();

// Whether process `pid` of this machine runs this program's file, too.
[[nodiscard]] bool runs_this_program(int pid);

// Whether a variable ("NAME" or "NAME=value") would change what is measured: thread counts and
// kernel choices of libraries, and the twins that Google Benchmark's flags have in the environment.
// The prefixes are the same as in tools/lib/setup.sh and tools/torch/twin/place.py.
[[nodiscard]] constexpr bool changes_the_measurement(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kPrefixes{"OMP_", "GOMP_", "KMP_",    "OPENBLAS_",
                                                      "MKL_", "DNNL_", "ONEDNN_", "BENCHMARK_"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

// The file of the CUDA module, which programs load.
inline constexpr const char* kCudaModuleFile = "libtandem_cuda.so";

// The possible places of the module, in order: only TANDEM_MODULE_PATH (a folder) where this
// variable is set and not empty; else ../lib beside the program's folder, or ../../lib for the
// build tree's tests.
[[nodiscard]] std::vector<std::filesystem::path> cuda_module_candidates(
    const char* module_path, const std::filesystem::path& program);

// The candidates of a program of another process that has this one's environment.
[[nodiscard]] std::vector<std::filesystem::path> cuda_module_candidates(
    const std::filesystem::path& program);

// The first of `candidates` that exists, which is what is loaded; empty: none does.
[[nodiscard]] std::filesystem::path first_cuda_module(
    const std::vector<std::filesystem::path>& candidates);

}  // namespace tandem
