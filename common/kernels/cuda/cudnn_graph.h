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
  std::vector<std::int64_t> strides;
  std::int64_t alignment = 16;  // bytes, that its address is a multiple of
  Place place = Place::kMemory;
};

// A logic error for fp16, which no operation here is made of.
[[nodiscard]] cudnnDataType_t cudnn_type(DType type);

// What cuDNN goes by of an address: 16, as it wants for its fastest engines, or an element's size.
[[nodiscard]] std::int64_t cudnn_alignment(const void* address, DType type);

// Operations on tensors, which cuDNN makes one plan of (cudnn_plan.h). Described one after the
// other: tensor() and part() give descriptors to set attributes of operations to, add() takes an
// operation in, finish() ends it. All throw CudnnError. Not thread-safe.
class CudnnGraph {
 public:
  explicit CudnnGraph(const CudnnApi& api);

  // Kept with the graph, as is part().
  const CudnnDescriptor& tensor(const CudnnTensor& tensor);
  // What operations consist of beside tensors, such as a convolution's strides. Finalised by the
  // caller.
  CudnnDescriptor& part(cudnnBackendDescriptorType_t type);

  // Finalises an operation whose attributes are set.
  void add(CudnnDescriptor operation);

  void finish(cudnnHandle_t handle);

  [[nodiscard]] const CudnnDescriptor& descriptor() const { return graph_; }

 private:
  const CudnnApi& api_;
  std::deque<CudnnDescriptor> parts_;  // whose addresses stay
  std::vector<CudnnDescriptor> operations_;
  CudnnDescriptor graph_;
};

}  // namespace tandem::cuda
