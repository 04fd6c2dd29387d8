// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda_kernels_module.h"

#include "common/runtime/cuda_module.h"

namespace tandem {
namespace {

[[noreturn]] void refuse(std::string_view reason) {
  fail(ErrorKind::kUsage, "--backend=cuda: {}; or pass --backend=host", reason);
}

}  // namespace

const CudaKernelsModule& cuda_kernels_module() {
  const LoadedCudaModule loaded = load_cuda_module();
  if (loaded.module == nullptr) refuse(loaded.trouble.detail);
  using Entry = const CudaKernelsModule* (*)();
  const auto entry = reinterpret_cast<Entry>(find_entry(loaded, kCudaKernelsEntry));
  if (entry == nullptr) refuse("the CUDA module has no operations: build it and the program anew");
  const CudaKernelsModule* const module = entry();
  if (module->abi != kCudaKernelsAbi) {
    refuse(
        fmt::format("the CUDA module's operations are of version {}, the program's of version "
                    "{}: build both",
                    module->abi, kCudaKernelsAbi));
  }
  return *module;
}

}  // namespace tandem
