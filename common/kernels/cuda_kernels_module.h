// SPDX-License-Identifier: Apache-2.0
//
// The seam between programs and the operations in the CUDA module (runtime/cuda_module.h), which
// has a separate entry for operations: the runtime knows nothing of operations.
#pragma once

#include <memory>
#include <string>

#include "common/kernels/operations.h"

namespace tandem {

// Raise this number with every change to CudaKernelsModule, to Operations or to an operation.
inline constexpr int kCudaKernelsAbi = 5;

// The module's exports. `abi` stays first, so that any version of the module can be read.
struct CudaKernelsModule {
  int abi;
  std::unique_ptr<Operations> (*make_operations)(Device& device, Precision precision,
                                                 const ImageOptions& images);
  std::string (*library_version)();
  std::string (*lack_of_images)();  // lack_of_images() (operations.h) of the CUDA back end
};

// The exported symbol: `const CudaKernelsModule* tandem_cuda_kernels_module()`.
inline constexpr const char* kCudaKernelsEntry = "tandem_cuda_kernels_module";

// The entry of this process's module, loaded on the first call; throws a usage error with the
// reason where the entry cannot be had. Thread-safe.
[[nodiscard]] const CudaKernelsModule& cuda_kernels_module();

}  // namespace tandem
