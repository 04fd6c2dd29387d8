// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/tandem/pretend/shared_library.h"
#include "tools/tandem/pretend/torch_wheel.h"

namespace tandem::cli {

// The pretended libraries that a wheel of this CUDA version loads, in the order of LD_PRELOAD.
[[nodiscard]] std::vector<std::string> pretended_sonames(int cuda_major);

// The functions, as "cudaFoo (libcudart.so.13)", that `user` takes from one of CUDA's libraries and
// that none of `pretended` exports.
[[nodiscard]] std::vector<std::string> missing_symbols(const SharedLibrary& user,
                                                       const std::vector<SharedLibrary>& pretended);

// Throws a usage error that names the functions which the wheel's libraries need and the pretended
// ones in `folder` lack, with the versions of torch that work.
void check_symbols(const TorchWheel& wheel, const std::filesystem::path& folder);

}  // namespace tandem::cli
