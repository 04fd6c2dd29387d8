// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda_module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

namespace tandem {

namespace {

LoadedCudaModule broken(const std::filesystem::path& file, std::string_view reason) {
  return {nullptr,
          {CudaState::kModuleBroken, fmt::format("{} does not load: {}", file.string(), reason)},
          nullptr};
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

// Whether the dynamic linker's words say that a library which the module needs is missing.
bool names_a_missing_library(std::string_view reason) {
  return reason.find("cannot open shared object file") != std::string_view::npos;
}

std::string with_advice(std::string reason) {
  if (names_a_missing_library(reason)) {
    reason +=
        "; install that library of the CUDA toolkit, or add the folder where it lies to "
        "LD_LIBRARY_PATH";
  }
  return reason;
}

LoadedCudaModule load(const std::filesystem::path& file) {
  // RTLD_NOW finds a missing library here, not in the middle of a run. The handle is kept.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return broken(file, with_advice(last_dl_error()));
  using Entry = const CudaModule* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kCudaModuleEntry));
  if (entry == nullptr) return broken(file, last_dl_error());
  const CudaModule* module = entry();
  if (module->abi != kCudaModuleAbi) {
    return broken(file, fmt::format("it is of version {}, the program of version {}; build both",
                                    module->abi, kCudaModuleAbi));
  }
  return {module, {}, handle};
}

}  // namespace

LoadedCudaModule load_cuda_module(const std::vector<std::filesystem::path>& candidates) {
  const std::filesystem::path file = first_cuda_module(candidates);
  if (!file.empty()) return load(file);
  const std::string first = candidates.empty() ? kCudaModuleFile : candidates.front().string();
  return {nullptr, {CudaState::kModuleMissing, fmt::format("there is no {}", first)}, nullptr};
}

void* find_entry(const LoadedCudaModule& loaded, const char* name) {
  return loaded.library == nullptr ? nullptr : dlsym(loaded.library, name);
}

LoadedCudaModule load_cuda_module() {
  // Without /proc the candidates are wrong, and the module is reported as not found.
  return load_cuda_module(cuda_module_candidates(program_file()));
}

const CudaProfiling* find_cuda_profiling() {
  using Entry = const CudaProfiling* (*)();
  const auto entry = reinterpret_cast<Entry>(find_entry(load_cuda_module(), kCudaProfilingEntry));
  return entry == nullptr ? nullptr : entry();
}

}  // namespace tandem
