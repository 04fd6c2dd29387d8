// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_graph.h"

#include <utility>

namespace tandem::cuda {

cudnnDataType_t cudnn_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return CUDNN_DATA_FLOAT;
    case DType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case DType::kFloat16:
      break;
  }
  fail(ErrorKind::kLogic, "an operation of cuDNN's on {}", name_of(type));
}

std::int64_t cudnn_alignment(const void* address, DType type) {
  constexpr std::int64_t kWanted = 16;
  return reinterpret_cast<std::uintptr_t>(address) % kWanted == 0 ? kWanted : size_of(type);
}

CudnnGraph::CudnnGraph(const CudnnApi& api)
    : api_(api), graph_(api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {}

const CudnnDescriptor& CudnnGraph::tensor(const CudnnTensor& tensor) {
  CudnnDescriptor& own = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  own.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id);
  own.set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.type);
  own.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.sizes);
  own.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  own.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, tensor.alignment);
  if (tensor.place == CudnnTensor::Place::kVirtual) own.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  if (tensor.place == CudnnTensor::Place::kByValue) own.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
  own.finalize();
  return own;
}

CudnnDescriptor& CudnnGraph::part(cudnnBackendDescriptorType_t type) {
  return parts_.emplace_back(api_, type);
}

void CudnnGraph::add(CudnnDescriptor operation) {
  operation.finalize();
  operations_.push_back(std::move(operation));
}

void CudnnGraph::finish(cudnnHandle_t handle) {
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
  graph_.finalize();
}

}  // namespace tandem::cuda
