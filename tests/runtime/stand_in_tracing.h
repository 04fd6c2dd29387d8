// SPDX-License-Identifier: Apache-2.0
//
// How the stand-in for CUDA's runtime reports to the one for CUPTI (tests/trace/stand_in_cupti.h)
// what it runs, where a program has loaded that: STAND_IN_CUPTI is its file.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

namespace tandem::test::stand_in {

// `body` of what `function` puts on the stream, and reported as it runs.
[[nodiscard]] std::function<void()> told_to_cupti(const std::string& function, cudaStream_t stream,
                                                  std::function<void()> body);

}  // namespace tandem::test::stand_in
