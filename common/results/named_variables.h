// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tandem::results {

// The variables of an environment ("NAME=value" strings, the last one null) that change the
// measurement: NCCL_*, OMPI_MCA_*, OMP_*, CUDA_*, and a few by name, without those that mpirun and
// Tandem set for a launch. Other variables are left out and values that look like secrets are
// "(redacted)", so that no secret leaves the machine.
[[nodiscard]] std::map<std::string, std::string> named_variables(const char* const* environment);

// Whether a variable may hold a password, key or token, by its name or by its value.
[[nodiscard]] bool looks_secret(std::string_view name, std::string_view value);

}  // namespace tandem::results
