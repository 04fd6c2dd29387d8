// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cudnn_graph.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tandem::cuda {

cudnnDataType_t cudnn_type(DType type) {
  if (type == DType::kFloat16) fail(ErrorKind::kLogic, "an operation of cuDNN's on fp16");
  return type == DType::kFloat32 ? CUDNN_DATA_FLOAT : CUDNN_DATA_BFLOAT16;
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

Tensor CudnnGraph::add(const Pointwise& what, Tensor x, Tensor to) {
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
  return to;
}

Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, const Sizes& sizes) {
  return add({.mode = mode}, x, between(CUDNN_DATA_FLOAT, sizes));
}

Tensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, const Sizes& sizes) {
  return pointwise_to(mode, x, b, between(CUDNN_DATA_FLOAT, sizes));
}

Tensor CudnnGraph::pointwise_to(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor to) {
  return add({.mode = mode, .b = &b}, x, to);
}

Tensor CudnnGraph::lower_triangle(Tensor x, Tensor other, const Sizes& sizes) {
  Tensor row = between(CUDNN_DATA_INT32, sizes);
  add({.mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = 2}, x, row);
  Tensor column = between(CUDNN_DATA_INT32, sizes);
  add({.mode = CUDNN_POINTWISE_GEN_INDEX, .compute = CUDNN_DATA_INT32, .axis = 3}, x, column);
  Tensor seen = between(CUDNN_DATA_BOOLEAN, sizes);
  add({.mode = CUDNN_POINTWISE_CMP_GE, .compute = CUDNN_DATA_BOOLEAN, .b = &column}, row, seen);
  return add({.mode = CUDNN_POINTWISE_BINARY_SELECT, .b = &other, .t = &seen}, x,
             between(CUDNN_DATA_FLOAT, sizes));
}

Tensor CudnnGraph::product(Tensor a, Tensor b, const Sizes& sizes) {
  return product_to(a, b, between(CUDNN_DATA_FLOAT, sizes));
}

Tensor CudnnGraph::product_to(Tensor a, Tensor b, Tensor to) {
  CudnnDescriptor& how = part(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.finalize();
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
  add(std::move(operation));
  return to;
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

Tensor CudnnGraph::reshape_to(Tensor x, Tensor to) {
  CudnnDescriptor operation(api_, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
  add(std::move(operation));
  return to;
}

namespace {

constexpr const char* kAdvice =
    "install cuDNN 9 for the toolkit's CUDA, or add its folder to LD_LIBRARY_PATH";

constexpr std::size_t kOldestVersion = 90000;  // the header's functions and statuses are of 9

std::string version_text(std::size_t version) {  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// "CUDNN_STATUS_NOT_SUPPORTED (what it objects to)", in one line.
std::string words_of(const CudnnApi& api, cudnnStatus_t status) {
  std::array<char, 512> details{};
  api.get_last_error(details.data(), details.size() - 1);
  std::string text = details.data();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text.empty() ? api.get_error_string(status)
                      : fmt::format("{} ({})", api.get_error_string(status), text);
}

}  // namespace

LoadedCudnn load_cudnn_from(const char* file, CudnnApi& api) {
  Library library(file);
#define TANDEM_FIND(place, name) library.find(api.place, #name);
  TANDEM_EACH_CUDNN_CALL(TANDEM_FIND)
#undef TANDEM_FIND
  if (!library.trouble().empty()) {
    return {nullptr, fmt::format("{}: {}", library.trouble(), kAdvice), ""};
  }
  const std::size_t version = api.get_version();
  if (version < kOldestVersion) {
    return {nullptr, fmt::format("{} is of version {}: {}", file, version_text(version), kAdvice),
            ""};
  }
  return {&api, "", version_text(version)};
}

CudnnError::CudnnError(const CudnnApi& api, cudnnStatus_t status, const char* call)
    : Error(status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? ErrorKind::kOutOfMemory
                                                                           : ErrorKind::kFailure,
            fmt::format("{}: {}", call, words_of(api, status))) {}

void check_cudnn(const CudnnApi& api, cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) throw CudnnError(api, status, call);
}

CudnnDescriptor::CudnnDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type)
    : api_(api) {
  check_cudnn(api_, api_.create_descriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) static_cast<void>(api_.destroy_descriptor(descriptor_));
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const std::vector<CudnnDescriptor>& others) {
  std::vector<cudnnBackendDescriptor_t> raw;
  raw.reserve(others.size());
  for (const CudnnDescriptor& other : others) raw.push_back(other.raw());
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()), raw.data());
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values) {
  check_cudnn(api_, api_.set_attribute(descriptor_, name, type, count, values),
              "cudnnBackendSetAttribute");
}

void CudnnDescriptor::finalize() {
  check_cudnn(api_, api_.finalize(descriptor_), "cudnnBackendFinalize");
}

std::int64_t CudnnDescriptor::get(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type, std::int64_t most,
                                  void* values) const {
  std::int64_t found = 0;
  check_cudnn(api_, api_.get_attribute(descriptor_, name, type, most, &found, values),
              "cudnnBackendGetAttribute");
  return found;
}

// cuDNN fills descriptors that the caller makes.
std::vector<CudnnDescriptor> CudnnDescriptor::get(cudnnBackendAttributeName_t name,
                                                  cudnnBackendDescriptorType_t type,
                                                  std::int64_t most) const {
  std::vector<CudnnDescriptor> all;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < most; ++i) raw.push_back(all.emplace_back(api_, type).raw());
  const std::int64_t found = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
  while (static_cast<std::int64_t>(all.size()) > std::min(most, found)) all.pop_back();
  return all;
}

}  // namespace tandem::cuda
