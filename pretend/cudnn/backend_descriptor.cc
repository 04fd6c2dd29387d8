// SPDX-License-Identifier: Apache-2.0
#include "pretend/cudnn/backend_descriptor.h"

#include <cstring>
#include <utility>

#include "pretend/abi/cudnn.h"
#include "pretend/core/library_types.h"

namespace tandem::pretend {
namespace {

struct OperationName {
  int type;
  const char* name;
};

constexpr OperationName kOperations[] = {
    {abi::kBackendConvolutionForward, "convolution-forward"},
    {abi::kBackendConvolutionFilter, "convolution-backward-filter"},
    {abi::kBackendConvolutionData, "convolution-backward-data"},
    {13, "pointwise"},
    {14, "statistics"},
    {19, "product"},
    {22, "reduction"},
    {25, "resample-forward"},
    {26, "resample-backward"},
    {29, "norm-forward"},
    {30, "norm-backward"},
    {31, "reshape"},
    {33, "random"},
    {41, "attention-forward"},
    {43, "attention-backward"},
    {45, "softmax"},
};

std::string name_of_operation(int type) {
  for (const OperationName& operation : kOperations) {
    if (operation.type == type) return operation.name;
  }
  return "operation-" + std::to_string(type);
}

// Which attributes are input, weights and output of a convolution.
struct ConvolutionTensors {
  int x;
  int w;
  int y;
};

ConvolutionTensors tensors_of(int type) {
  switch (type) {
    case abi::kBackendConvolutionForward:
      return {abi::kForwardX, abi::kForwardW, abi::kForwardY};
    case abi::kBackendConvolutionFilter:
      return {abi::kFilterX, abi::kFilterDw, abi::kFilterDy};
    default:
      return {abi::kDataDx, abi::kDataW, abi::kDataDy};
  }
}

bool is_convolution_type(int type) {
  return type >= abi::kBackendConvolutionForward && type <= abi::kBackendConvolutionData;
}

std::string shape_of(const SharedContents& tensor) {
  std::string text = "[";
  if (tensor != nullptr) {
    for (const int64_t extent : tensor->numbers(abi::kTensorDimensions)) {
      text += text.size() > 1 ? "," : "";
      text += std::to_string(extent);
    }
  }
  return text + "]";
}

int type_of(const SharedContents& tensor) {
  int type = -1;
  if (tensor != nullptr && tensor->values.contains(abi::kTensorType)) {
    std::memcpy(&type, tensor->values.at(abi::kTensorType).bytes.data(), sizeof type);
  }
  return type;
}

std::string describe(const BackendContents& operation) {
  std::string text = "{\"operation\":\"" + name_of_operation(operation.type) + "\"";
  if (is_convolution_type(operation.type)) {
    const ConvolutionTensors tensors = tensors_of(operation.type);
    const SharedContents x = operation.child(tensors.x);
    text += ",\"x\":" + shape_of(x) + ",\"w\":" + shape_of(operation.child(tensors.w)) +
            ",\"y\":" + shape_of(operation.child(tensors.y)) + ",\"type\":\"" +
            name_of(abi::from_cudnn(type_of(x))) + "\"";
  }
  return text + "}";
}

const std::vector<SharedContents>& operations_of(const BackendContents& graph) {
  static const std::vector<SharedContents>* const none = new std::vector<SharedContents>;
  const auto found = graph.values.find(abi::kGraphOperations);
  return found == graph.values.end() ? *none : found->second.children;
}

}  // namespace

SharedContents BackendContents::child(int attribute) const {
  const auto found = values.find(attribute);
  return found == values.end() || found->second.children.empty() ? nullptr
                                                                 : found->second.children.front();
}

std::vector<int64_t> BackendContents::numbers(int attribute) const {
  const auto found = values.find(attribute);
  if (found == values.end()) return {};
  std::vector<int64_t> numbers(found->second.bytes.size() / sizeof(int64_t));
  std::memcpy(numbers.data(), found->second.bytes.data(), numbers.size() * sizeof(int64_t));
  return numbers;
}

void BackendContents::set_number(int attribute, int64_t value) {
  BackendValue& kept = values[attribute];
  kept.count = 1;
  kept.bytes.resize(sizeof value);
  std::memcpy(kept.bytes.data(), &value, sizeof value);
}

void BackendContents::set_child(int attribute, SharedContents child) {
  values[attribute] = {.count = 1, .bytes = {}, .children = {std::move(child)}};
}

int64_t element_bytes(int element) {
  switch (element) {
    case abi::kElementHandle:
    case abi::kElementInt64:
    case abi::kElementDouble:
    case abi::kElementPointer:
    case abi::kElementDescriptor:
      return 8;
    case abi::kElementBoolean:
    case abi::kElementChar:
      return 1;
    case abi::kElementFraction:
      return 16;
    default:
      return 4;
  }
}

std::string describe_operations(const BackendContents& graph) {
  std::string text = "[";
  for (const SharedContents& operation : operations_of(graph)) {
    text += text.size() > 1 ? "," : "";
    text += describe(*operation);
  }
  return text + "]";
}

}  // namespace tandem::pretend
