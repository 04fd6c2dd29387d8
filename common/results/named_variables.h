// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tandem::results {

// Of an environment ("NAME=value" strings, the last one null) the variables that change what is
// measured: NCCL_*, OMPI_MCA_*, OMP_*, CUDA_*, and a few by name, without what mpirun and Tandem
// set themselves for a launch. No others, so that no secret leaves the machine, and of these the
// values that look like one are "(redacted)".
[[nodiscard]] std::map<std::string, std::string> named_variables(const char* const* environment);

// Whether a variable may hold a password, key or token, by its name or by its value.
[[nodiscard]] bool looks_secret(std::string_view name, std::string_view value);

}  // namespace tandem::results
