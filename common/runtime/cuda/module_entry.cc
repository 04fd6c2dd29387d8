// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda/cuda_probe.h"
#include "common/runtime/cuda_module.h"

namespace {

// Kernel operations are not part of the module yet; set when they are.
constexpr bool kHasOperations = false;

tandem::CudaProbe probe(const tandem::PlatformOptions& options) {
  tandem::CudaProbe result = tandem::cuda::probe(options);
  result.operations = kHasOperations;
  return result;
}

constexpr tandem::CudaModule kModule{tandem::kCudaModuleAbi, &probe,
                                     &tandem::cuda::make_cuda_platform};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::CudaModule* tandem_cuda_module() {
  return &kModule;
}
