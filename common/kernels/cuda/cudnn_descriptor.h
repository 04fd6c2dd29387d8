// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"

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

// What cuDNN returned from a call, and its own words for it. While a graph or a plan is described
// that is often a refusal, after which there is another way; else it goes up as any failure.
class CudnnError : public Error {
 public:
  CudnnError(const CudnnApi& api, cudnnStatus_t status, const char* call);
};

// Throws where `status` is not success. `call` is its name in the message.
void check_cudnn(const CudnnApi& api, cudnnStatus_t status, const char* call);

namespace cudnn_detail {

using TypeName = cudnnBackendAttributeType_t;

// How cuDNN names the type of an attribute's elements.
constexpr TypeName type_name(const std::int64_t&) { return CUDNN_TYPE_INT64; }
constexpr TypeName type_name(const bool&) { return CUDNN_TYPE_BOOLEAN; }
constexpr TypeName type_name(const float&) { return CUDNN_TYPE_FLOAT; }
constexpr TypeName type_name(void* const&) { return CUDNN_TYPE_VOID_PTR; }
constexpr TypeName type_name(const cudnnHandle_t&) { return CUDNN_TYPE_HANDLE; }
constexpr TypeName type_name(const cudnnDataType_t&) { return CUDNN_TYPE_DATA_TYPE; }
constexpr TypeName type_name(const cudnnConvolutionMode_t&) { return CUDNN_TYPE_CONVOLUTION_MODE; }
constexpr TypeName type_name(const cudnnPointwiseMode_t&) { return CUDNN_TYPE_POINTWISE_MODE; }
constexpr TypeName type_name(const cudnnReduceTensorOp_t&) {
  return CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
}
constexpr TypeName type_name(const cudnnBackendHeurMode_t&) { return CUDNN_TYPE_HEUR_MODE; }
constexpr TypeName type_name(const cudnnBackendNumericalNote_t&) {
  return CUDNN_TYPE_NUMERICAL_NOTE;
}

}  // namespace cudnn_detail

// One of cuDNN's backend descriptors, owned. Its attributes are set, then it is finalised, after
// which they can be read and others be made of it. All throw CudnnError. Not thread-safe.
class CudnnDescriptor {
 public:
  CudnnDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : api_(other.api_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;
  ~CudnnDescriptor();

  template <class Value>
  void set(cudnnBackendAttributeName_t name, const Value& value) {
    set(name, cudnn_detail::type_name(value), 1, &value);
  }
  template <class Value>
  void set(cudnnBackendAttributeName_t name, const std::vector<Value>& values) {
    set(name, cudnn_detail::type_name(Value{}), static_cast<std::int64_t>(values.size()),
        values.data());
  }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<CudnnDescriptor>& others);

  void finalize();

  // Up to `most` numbers.
  template <class Value>
  [[nodiscard]] std::vector<Value> get(cudnnBackendAttributeName_t name, std::int64_t most) const {
    std::vector<Value> values(static_cast<std::size_t>(most));
    const std::int64_t found =
        get(name, cudnn_detail::type_name(Value{}), most, static_cast<void*>(values.data()));
    values.resize(static_cast<std::size_t>(std::min(most, found)));
    return values;
  }
  // Up to `most` descriptors of that type, finalised.
  [[nodiscard]] std::vector<CudnnDescriptor> get(cudnnBackendAttributeName_t name,
                                                 cudnnBackendDescriptorType_t type,
                                                 std::int64_t most) const;

  [[nodiscard]] cudnnBackendDescriptor_t raw() const { return descriptor_; }

 private:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   std::int64_t most, void* values) const;

  const CudnnApi& api_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace tandem::cuda
