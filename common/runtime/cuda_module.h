// SPDX-License-Identifier: Apache-2.0
//
// The seam between programs and the CUDA module, libtandem_cuda.so. Programs link no CUDA: they
// find the module beside themselves and load it with dlopen, so that one build runs on nodes with
// and without a GPU. Both sides include this header; the ABI number guards against a stale module.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/this_process.h"
#include "common/runtime/platform.h"
#include "common/runtime/stream.h"

namespace tandem {

// Whether CUDA can be used here, or the one reason why not.
enum class CudaState {
  kUsable,
  kModuleMissing,    // not built, or not beside the program
  kModuleBroken,     // found, but does not load or is of another version
  kDriverMissing,    // no libcuda.so.1 found
  kDriverTooOld,     // older than the module's toolkit needs
  kNoDeviceVisible,  // CUDA lists no device: hidden, or not passed into the container
  kNoCode,           // the module has no kernels that this GPU can run
  kBusy,             // held by another process in exclusive mode, or compute is prohibited
  kNotPermitted,     // the operating system denies access
  kOtherTrouble,
};

struct CudaProbe {
  CudaState state = CudaState::kOtherTrouble;
  std::string detail;               // the findings, for the message
  std::vector<std::string> gpus{};  // the usable GPUs' Device::hardware(), of the GPUs asked for
};

// Raise this number with every change to CudaModule or to a type that crosses the seam (the
// runtime's interfaces, PlatformOptions, Error): both sides are built together, and a left-over
// module must not load.
inline constexpr int kCudaModuleAbi = 12;

// The module's exports. `abi` stays first, so that any version of the module can be read.
struct CudaModule {
  int abi;
  // Makes contexts on the GPUs that `options` would use.
  CudaProbe (*probe)(const PlatformOptions& options);
  std::unique_ptr<Platform> (*open)(const PlatformOptions& options);
};

// The module's exported symbol for the runtime: `const CudaModule* tandem_cuda_module()`.
inline constexpr const char* kCudaModuleEntry = "tandem_cuda_module";

struct LoadedCudaModule {
  const CudaModule* module = nullptr;  // null where the module could not be loaded
  CudaProbe trouble;                   // the reason where the module is absent
  void* library = nullptr;             // dlopen's handle; null where the module is absent
};

// Loads the module at the first of `candidates` that exists. The module is never unloaded: CUDA's
// runtime does not survive unloading.
[[nodiscard]] LoadedCudaModule load_cuda_module(
    const std::vector<std::filesystem::path>& candidates);

// Does the same for this process: environment and /proc/self/exe decide the candidates.
[[nodiscard]] LoadedCudaModule load_cuda_module();

// The module's export of another name, for callers whose seam lies above the runtime; null where
// there is no module or the module lacks the entry.
[[nodiscard]] void* find_entry(const LoadedCudaModule& loaded, const char* name);

// The calls to profilers through CUDA, as a separate entry of the CUDA module.
struct CudaProfiling {
  // cudaProfilerStart and cudaProfilerStop of this process, on all its GPUs. Both throw a failure
  // with CUDA's reason; without a profiler they do nothing.
  void (*start)();
  void (*stop)();
  // A CUDA stream's cudaStream_t.
  void* (*native_stream)(Stream& stream);
  // CUDA's ordinal of the GPU that the stream is on.
  int (*gpu)(Stream& stream);
};

// The module's exported symbol of this entry: `const CudaProfiling*
// tandem_cuda_profiling_module()`.
inline constexpr const char* kCudaProfilingEntry = "tandem_cuda_profiling_module";

// The entry of this process's CUDA module; null where there is none.
[[nodiscard]] const CudaProfiling* find_cuda_profiling();

}  // namespace tandem
