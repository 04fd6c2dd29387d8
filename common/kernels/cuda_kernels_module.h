// SPDX-License-Identifier: Apache-2.0
//
// The seam between programs and the operations in the CUDA module (runtime/cuda_module.h), which
// has an entry of its own for them: the runtime knows nothing of operations.
#pragma once

#include <memory>
#include <string>

#include "common/kernels/operations.h"

namespace tandem {

// Raise with every change to CudaKernelsModule, to Operations or to an operation.
inline constexpr int kCudaKernelsAbi = 3;

// What the module exports. `abi` stays first, so that any version of it can be read.
struct CudaKernelsModule {
  int abi;
  std::unique_ptr<Operations> (*make_operations)(Device& device, Precision precision);
  std::string (*library_version)();
  std::string (*lack_of_images)();  // lack_of_images() (operations.h) of the CUDA back end
};

// The symbol: `const CudaKernelsModule* tandem_cuda_kernels_module()`.
inline constexpr const char* kCudaKernelsEntry = "tandem_cuda_kernels_module";

// The entry of this process's module, loaded where that has not been done; a usage error that says
// why it cannot be had. Thread-safe.
[[nodiscard]] const CudaKernelsModule& cuda_kernels_module();

}  // namespace tandem
