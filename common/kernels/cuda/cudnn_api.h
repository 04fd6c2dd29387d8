// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <string>

namespace tandem::cuda {

// The functions of cuDNN's graph interface that Tandem calls, as found in the library at run time;
// a test puts its own in their place.
struct CudnnApi {
  decltype(&::cudnnGetVersion) get_version = nullptr;
  decltype(&::cudnnGetErrorString) get_error_string = nullptr;
  decltype(&::cudnnGetLastErrorString) get_last_error = nullptr;
  decltype(&::cudnnCreate) create = nullptr;
  decltype(&::cudnnDestroy) destroy = nullptr;
  decltype(&::cudnnSetStream) set_stream = nullptr;
  decltype(&::cudnnBackendCreateDescriptor) create_descriptor = nullptr;
  decltype(&::cudnnBackendDestroyDescriptor) destroy_descriptor = nullptr;
  decltype(&::cudnnBackendFinalize) finalize = nullptr;
  decltype(&::cudnnBackendSetAttribute) set_attribute = nullptr;
  decltype(&::cudnnBackendGetAttribute) get_attribute = nullptr;
  decltype(&::cudnnBackendExecute) execute = nullptr;
};

struct LoadedCudnn {
  const CudnnApi* api = nullptr;  // absent where it could not be loaded
  std::string trouble;            // the reason, where absent
  std::string version;            // "9.19.0"
};

// The library of this process, loaded at the first call and never unloaded: the module does not
// need it, since most models do without. Thread-safe.
[[nodiscard]] const LoadedCudnn& load_cudnn();

// The same from a file of this name; nothing is kept but the library itself.
[[nodiscard]] LoadedCudnn load_cudnn_from(const char* file, CudnnApi& api);

}  // namespace tandem::cuda
