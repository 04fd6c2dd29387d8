// SPDX-License-Identifier: Apache-2.0
//
// The runtime's way to the driver's functions, which lie in the pretended libcuda.so.1.
#include <dlfcn.h>

#include <cstdint>

#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

constexpr int kEntryFound = 0;     // cudaDriverEntryPointSuccess
constexpr int kEntryNotFound = 1;  // cudaDriverEntryPointSymbolNotFound

}  // namespace

extern "C" {

abi::CudaError cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                uint64_t, int* result) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  *function = driver == nullptr ? nullptr : dlsym(driver, name);
  if (result != nullptr) {
    *result = *function == nullptr ? kEntryNotFound : kEntryFound;
  }
  return *function == nullptr && result == nullptr ? with_last_error(abi::kCudaSymbolNotFound)
                                                   : abi::kCudaSuccess;
}

abi::CudaError cudaGetDriverEntryPoint(const char* name, void** function, uint64_t flags,
                                       int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}

abi::CudaError cudaGetDriverEntryPoint_ptsz(const char* name, void** function, uint64_t flags,
                                            int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}
}
