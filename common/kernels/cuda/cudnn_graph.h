// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "common/base/dtype.h"
#include "common/kernels/cuda/cudnn_descriptor.h"

namespace tandem::cuda {

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

// What cuDNN goes by of an address: 16, as it wants for its fastest engines, or an element's size.
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
  // What operations consist of beside tensors, such as a convolution's strides. Finalised by the
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
  void pointwise_to(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor to);

  // x where the position in dimension 2 is no less than that in dimension 3, else `other`.
  Tensor lower_triangle(Tensor x, Tensor other, const Sizes& sizes);

  Tensor product(Tensor a, Tensor b, const Sizes& sizes);
  void product_to(Tensor a, Tensor b, Tensor to);

  // Over the last dimension.
  Tensor reduce(cudnnReduceTensorOp_t how, Tensor x, const Sizes& sizes);

  // The same elements, as a tensor of other sizes and strides.
  void reshape_to(Tensor x, Tensor to);

 private:
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    std::int64_t axis = -1;  // of indices
    const CudnnDescriptor* b = nullptr;
    const CudnnDescriptor* t = nullptr;
  };
  void add(const Pointwise& what, Tensor x, Tensor to);

  const CudnnApi& api_;
  std::deque<CudnnDescriptor> parts_;  // whose addresses stay
  std::vector<CudnnDescriptor> operations_;
  CudnnDescriptor graph_;
  std::int64_t next_id_ = 100;  // of virtual tensors
};

}  // namespace tandem::cuda
