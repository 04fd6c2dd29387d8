// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tandem::cuda {
namespace {

constexpr const char* kAdvice =
    "install cuDNN 9 for the toolkit's CUDA, or add its folder to LD_LIBRARY_PATH";

constexpr std::size_t kOldestVersion = 90000;  // the header's functions and statuses are of 9

std::string version_text(std::size_t version) {  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// Puts the functions in their places; returns the first that is not there.
std::string fill(CudnnApi& api, void* library) {
  std::string missing;
  const auto find = [&]<class Function>(Function& place, const char* name) {
    place = reinterpret_cast<Function>(dlsym(library, name));
    if (place == nullptr && missing.empty()) missing = name;
  };
  find(api.get_version, "cudnnGetVersion");
  find(api.get_error_string, "cudnnGetErrorString");
  find(api.get_last_error, "cudnnGetLastErrorString");
  find(api.create, "cudnnCreate");
  find(api.destroy, "cudnnDestroy");
  find(api.set_stream, "cudnnSetStream");
  find(api.create_descriptor, "cudnnBackendCreateDescriptor");
  find(api.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  find(api.finalize, "cudnnBackendFinalize");
  find(api.set_attribute, "cudnnBackendSetAttribute");
  find(api.get_attribute, "cudnnBackendGetAttribute");
  find(api.execute, "cudnnBackendExecute");
  return missing;
}

}  // namespace

LoadedCudnn load_cudnn_from(const char* file, CudnnApi& api) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return {nullptr,
            fmt::format("{} does not load ({}): {}", file,
                        reason != nullptr ? reason : "unknown reason", kAdvice),
            ""};
  }
  if (const std::string missing = fill(api, library); !missing.empty()) {
    return {nullptr, fmt::format("{} has no {}: {}", file, missing, kAdvice), ""};
  }
  const std::size_t version = api.get_version();
  if (version < kOldestVersion) {
    return {nullptr, fmt::format("{} is of version {}: {}", file, version_text(version), kAdvice),
            ""};
  }
  return {&api, "", version_text(version)};
}

}  // namespace tandem::cuda
