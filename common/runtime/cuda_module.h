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

#include "common/runtime/platform.h"

namespace tandem {

// Whether CUDA can be used here, or the one reason why not.
enum class CudaState {
  kUsable,
  kModuleMissing,    // not built, or not beside the program
  kModuleBroken,     // found, but it does not load or is of another version
  kDriverMissing,    // no libcuda.so.1 to be seen
  kDriverTooOld,     // for the toolkit that the module was built with
  kNoDeviceVisible,  // CUDA lists no device: hidden, or not passed into the container
  kBusy,             // held by another process in exclusive mode, or prohibited
  kNotPermitted,     // the operating system denies access
  kOtherTrouble,
};

struct CudaProbe {
  CudaState state = CudaState::kOtherTrouble;
  std::string detail;               // what was found, for the message
  std::vector<std::string> gpus{};  // usable: what each GPU asked for is, as Device::hardware()
};

// Raise with every change to CudaModule or to a type that crosses it (the runtime's interfaces,
// PlatformOptions, Error): both sides are built together, and a left-over module must not load.
inline constexpr int kCudaModuleAbi = 7;

// What the module exports. `abi` stays first, so that any version of it can be read.
struct CudaModule {
  int abi;
  CudaProbe (*probe)(const PlatformOptions& options);  // makes contexts on the GPUs they would use
  std::unique_ptr<Platform> (*open)(const PlatformOptions& options);
};

// The module's exported symbol for the runtime: `const CudaModule* tandem_cuda_module()`.
inline constexpr const char* kCudaModuleEntry = "tandem_cuda_module";
inline constexpr const char* kCudaModuleFile = "libtandem_cuda.so";

struct LoadedCudaModule {
  const CudaModule* module = nullptr;  // absent where it could not be loaded
  CudaProbe trouble;                   // the reason, where absent
  void* library = nullptr;             // as dlopen gave it; absent with the module
};

// Where the module may be, in order: only in TANDEM_MODULE_PATH (a folder) where that is set and
// not empty; else in ../lib beside the program's folder, or ../../lib for the build tree's tests.
[[nodiscard]] std::vector<std::filesystem::path> cuda_module_candidates(
    const char* module_path, const std::filesystem::path& program);

// Loads the module at the first of `candidates` that exists. It is never unloaded: CUDA's runtime
// does not survive that.
[[nodiscard]] LoadedCudaModule load_cuda_module(
    const std::vector<std::filesystem::path>& candidates);

// The same for this process: environment and /proc/self/exe decide.
[[nodiscard]] LoadedCudaModule load_cuda_module();

// What the module exports by another name, for those whose seam lies above the runtime; null where
// there is no module or it has no such entry.
[[nodiscard]] void* find_entry(const LoadedCudaModule& loaded, const char* name);

}  // namespace tandem
