// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/library.h"

namespace tandem::cuda {

// The functions of cuDNN's graph interface that Tandem calls: X(place, name).
#define TANDEM_EACH_CUDNN_CALL(X)                      \
  X(get_version, cudnnGetVersion)                      \
  X(get_error_string, cudnnGetErrorString)             \
  X(get_last_error, cudnnGetLastErrorString)           \
  X(create, cudnnCreate)                               \
  X(destroy, cudnnDestroy)                             \
  X(set_stream, cudnnSetStream)                        \
  X(create_descriptor, cudnnBackendCreateDescriptor)   \
  X(destroy_descriptor, cudnnBackendDestroyDescriptor) \
  X(finalize, cudnnBackendFinalize)                    \
  X(set_attribute, cudnnBackendSetAttribute)           \
  X(get_attribute, cudnnBackendGetAttribute)           \
  X(execute, cudnnBackendExecute)

// As found in the library at run time; a test puts its own in their place.
struct CudnnApi {
#define TANDEM_PLACE(place, name) decltype(&::name) place = nullptr;
  TANDEM_EACH_CUDNN_CALL(TANDEM_PLACE)
#undef TANDEM_PLACE
};

using LoadedCudnn = Loaded<CudnnApi>;

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

// How cuDNN names the type of an attribute's elements.
#define TANDEM_NAME(type, name) \
  constexpr cudnnBackendAttributeType_t cudnn_name_of(type const*) { return name; }
TANDEM_NAME(std::int64_t, CUDNN_TYPE_INT64)
TANDEM_NAME(bool, CUDNN_TYPE_BOOLEAN)
TANDEM_NAME(float, CUDNN_TYPE_FLOAT)
TANDEM_NAME(void*, CUDNN_TYPE_VOID_PTR)
TANDEM_NAME(cudnnHandle_t, CUDNN_TYPE_HANDLE)
TANDEM_NAME(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE)
TANDEM_NAME(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE)
TANDEM_NAME(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE)
TANDEM_NAME(cudnnReduceTensorOp_t, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE)
TANDEM_NAME(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE)
TANDEM_NAME(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE)
#undef TANDEM_NAME

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
    set(name, cudnn_name_of(&value), 1, &value);
  }
  template <class Value>
  void set(cudnnBackendAttributeName_t name, const std::vector<Value>& values) {
    set(name, cudnn_name_of(values.data()), static_cast<std::int64_t>(values.size()),
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
        get(name, cudnn_name_of(values.data()), most, static_cast<void*>(values.data()));
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
