// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pretend/abi/cudart.h"

namespace tandem::pretend {

// Keeps an error for cudaGetLastError on this thread, and returns it; success changes nothing.
abi::CudaError with_last_error(abi::CudaError error);

}  // namespace tandem::pretend
