// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/base/dtype.h"
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

// The result of a call of cuDNN, and cuDNN's words for it. While a graph or a plan is described
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

// A tensor of a graph. Sizes and strides, in elements, are in cuDNN's order: (batch, channels,
// height, width) for images whatever lies next to what in memory.
struct CudnnTensor {
  enum class Place {
    kMemory,   // at an address that execution is given
    kVirtual,  // between operations of the graph, nowhere
    kByValue,  // one number, on the host
  };

  std::int64_t id = 0;  // unique in the graph; execution names the tensor by it
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides{};  // empty: elements follow each other
  std::int64_t alignment = 16;          // bytes, that its address is a multiple of
  Place place = Place::kMemory;
};

// A logic error for fp16, which no operation here is made of.
[[nodiscard]] cudnnDataType_t cudnn_type(DType type);

// The alignment that cuDNN knows of an address: 16, as it wants for its fastest engines, or an
// element's size.
[[nodiscard]] std::int64_t cudnn_alignment(const void* address, DType type);

// Operations on tensors, which cuDNN makes one plan of (cudnn_session.h), described one after the
// other until finish() ends them. All throw CudnnError. Not thread-safe.
class CudnnGraph {
 public:
  using Sizes = std::vector<std::int64_t>;
  using Tensor = const CudnnDescriptor&;

  explicit CudnnGraph(const CudnnApi& api);

  // Kept with the graph, as is part().
  Tensor tensor(const CudnnTensor& tensor);
  // Descriptors of operations beside tensors, such as a convolution's strides. Finalised by the
  // caller.
  CudnnDescriptor& part(cudnnBackendDescriptorType_t type);

  // Finalises an operation whose attributes are set.
  void add(CudnnDescriptor operation);

  void finish(cudnnHandle_t handle);

  [[nodiscard]] const CudnnDescriptor& descriptor() const { return graph_; }

  // Many small operations on tensors of four dimensions: each call adds one and gives its result, a
  // virtual tensor whose elements are fp32 and follow each other, unless it goes to one that is
  // given.

  // In memory, or a number by value.
  Tensor operand(std::int64_t id, cudnnDataType_t type, Sizes sizes, Sizes strides = {});
  Tensor number(std::int64_t id);

  // Virtual, of another type or with other strides than results have.
  Tensor between(cudnnDataType_t type, Sizes sizes, Sizes strides = {});

  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, const Sizes& sizes);
  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, const Sizes& sizes);
  Tensor pointwise_to(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor to);

  // x where the position in dimension 2 is no less than that in dimension 3, else `other`.
  Tensor lower_triangle(Tensor x, Tensor other, const Sizes& sizes);

  Tensor product(Tensor a, Tensor b, const Sizes& sizes);
  Tensor product_to(Tensor a, Tensor b, Tensor to);

  // Over the last dimension.
  Tensor reduce(cudnnReduceTensorOp_t how, Tensor x, const Sizes& sizes);

  // The same elements, as a tensor of other sizes and strides.
  Tensor reshape_to(Tensor x, Tensor to);

 private:
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    std::int64_t axis = -1;  // of indices
    const CudnnDescriptor* b = nullptr;
    const CudnnDescriptor* t = nullptr;
  };
  Tensor add(const Pointwise& what, Tensor x, Tensor to);

  const CudnnApi& api_;
  std::deque<CudnnDescriptor> parts_;  // whose addresses stay
  std::vector<CudnnDescriptor> operations_;
  CudnnDescriptor graph_;
  std::int64_t next_id_ = 100;  // of virtual tensors
};

}  // namespace tandem::cuda
