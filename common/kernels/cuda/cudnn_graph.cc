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

using Place = CudnnTensor::Place;
using Tensor = CudnnGraph::Tensor;
using Sizes = CudnnGraph::Sizes;

namespace {

Sizes dense(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t i = sizes.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

}  // namespace

CudnnGraph::CudnnGraph(const CudnnApi& api)
    : api_(api), graph_(api, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {}

Tensor CudnnGraph::tensor(const CudnnTensor& tensor) {
  CudnnDescriptor& own = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  own.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id);
  own.set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.type);
  own.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.sizes);
  own.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides.empty() ? dense(tensor.sizes) : tensor.strides);
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

Tensor CudnnGraph::operand(std::int64_t id, cudnnDataType_t type, Sizes sizes, Sizes strides) {
  return tensor({.id = id, .type = type, .sizes = std::move(sizes), .strides = std::move(strides)});
}

Tensor CudnnGraph::number(std::int64_t id) {
  return tensor({.id = id, .sizes = {1, 1, 1, 1}, .place = Place::kByValue});
}

Tensor CudnnGraph::between(cudnnDataType_t type, Sizes sizes, Sizes strides) {
  return tensor({.id = next_id_++,
                 .type = type,
                 .sizes = std::move(sizes),
                 .strides = std::move(strides),
                 .place = Place::kVirtual});
}

void CudnnGraph::add(const Pointwise& what, Tensor x, Tensor to) {
  CudnnDescriptor& how = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, what.mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, what.compute);
  if (what.axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, what.axis);
  how.finalize();
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (what.b != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *what.b);
  if (what.t != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *what.t);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  add(std::move(operation));
}

Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, const Sizes& sizes) {
  Tensor to = between(CUDNN_DATA_FLOAT, sizes);
  add({.mode = mode}, x, to);
  return to;
}

Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, const Sizes& sizes) {
  Tensor to = between(CUDNN_DATA_FLOAT, sizes);
  pointwise_to(mode, x, b, to);
  return to;
}

void CudnnGraph::pointwise_to(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor to) {
  add({.mode = mode, .b = &b}, x, to);
}

Tensor CudnnGraph::lower_triangle(Tensor x, Tensor other, const Sizes& sizes) {
  Tensor row = between(CUDNN_DATA_INT32, sizes);
  add({.mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = 2}, x, row);
  Tensor column = between(CUDNN_DATA_INT32, sizes);
  add({.mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = 3}, x, column);
  Tensor seen = between(CUDNN_DATA_BOOLEAN, sizes);
  add({.mode = CUDNN_POINTWISE_CMP_GE, .compute = CUDNN_DATA_BOOLEAN, .b = &column}, row, seen);
  Tensor to = between(CUDNN_DATA_FLOAT, sizes);
  add({.mode = CUDNN_POINTWISE_BINARY_SELECT, .b = &other, .t = &seen}, x, to);
  return to;
}

Tensor CudnnGraph::product(Tensor a, Tensor b, const Sizes& sizes) {
  Tensor to = between(CUDNN_DATA_FLOAT, sizes);
  product_to(a, b, to);
  return to;
}

void CudnnGraph::product_to(Tensor a, Tensor b, Tensor to) {
  CudnnDescriptor& how = part(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
  add(std::move(operation));
}

Tensor CudnnGraph::reduce(cudnnReduceTensorOp_t op, Tensor x, const Sizes& sizes) {
  CudnnDescriptor& how = part(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, op);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  Tensor to = between(CUDNN_DATA_FLOAT, sizes);
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
  add(std::move(operation));
  return to;
}

void CudnnGraph::reshape_to(Tensor x, Tensor to) {
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
  add(std::move(operation));
}

}  // namespace tandem::cuda
