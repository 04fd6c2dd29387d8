// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/stand_in_cudnn_contents.h"

#include <algorithm>

#include "tests/kernels/stand_in_cudnn_graph.h"

namespace tandem::test::stand_in {
namespace {

bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// What an operation's attributes are called.
struct Names {
  cudnnBackendAttributeName_t window, image, filter, result, alpha, beta;
  Written written;
};

const Names* names_of(cudnnBackendDescriptorType_t type) {
  static const std::map<cudnnBackendDescriptorType_t, Names> all{
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, Written::kResult}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, Written::kImage}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, Written::kFilter}}};
  const auto found = all.find(type);
  return found == all.end() ? nullptr : &found->second;
}

StridedTensor tensor_of(const Contents& contents) {
  StridedTensor tensor;
  tensor.narrow = contents.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16;
  std::ranges::copy(contents.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), tensor.sizes.begin());
  std::ranges::copy(contents.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES), tensor.strides.begin());
  return tensor;
}

StridedConvolution convolution_of(const Contents& operation, const Names& names) {
  StridedConvolution all{names.written, tensor_of(*operation.other(names.image)),
                         tensor_of(*operation.other(names.filter)),
                         tensor_of(*operation.other(names.result))};
  const Contents& window = *operation.other(names.window);
  std::ranges::copy(window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                    all.strides.begin());
  std::ranges::copy(window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
                    all.paddings.begin());
  return all;
}

bool is_sound_tensor(const Contents& tensor) {
  const auto type = tensor.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_INT8);
  const bool between = tensor.one<std::uint8_t>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0 &&
                       (type == CUDNN_DATA_INT32 || type == CUDNN_DATA_BOOLEAN);
  return (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_BFLOAT16 || between) &&
         tensor.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS).size() == 4 &&
         tensor.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES).size() == 4 &&
         tensor.has(CUDNN_ATTR_TENSOR_UNIQUE_ID) &&
         is_power_of_two(tensor.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
}

bool is_sound_window(const Contents& window) {
  using Numbers = std::vector<std::int64_t>;
  const auto padding = window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  return window.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_INT8) ==
             CUDNN_DATA_FLOAT &&
         window.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
             CUDNN_CROSS_CORRELATION &&
         window.one<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS) == 2 &&
         window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS) == Numbers{1, 1} &&
         window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES).size() == 2 &&
         padding.size() == 2 &&
         window.all<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS) == padding;
}

bool is_sound_operation(const Contents& operation, const Names& names) {
  for (const auto name : {names.window, names.image, names.filter, names.result}) {
    if (operation.other(name) == nullptr) return false;
  }
  const StridedConvolution all = convolution_of(operation, names);
  return operation.one<float>(names.alpha) == 1 && operation.one<float>(names.beta, 1) == 0 &&
         all.fits();
}

bool is_sound(const Contents& own) {
  if (const Names* const names = names_of(own.type)) return is_sound_operation(own, *names);
  if (is_step(own.type)) return is_sound_step(own);
  switch (own.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return is_sound_tensor(own);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return is_sound_window(own);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return own.has(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) && own.has(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
      return own.one<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_INT8) ==
             CUDNN_DATA_FLOAT;
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
      return own.has(CUDNN_ATTR_POINTWISE_MODE) && own.has(CUDNN_ATTR_POINTWISE_MATH_PREC);
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
      return own.has(CUDNN_ATTR_REDUCTION_OPERATOR) && own.has(CUDNN_ATTR_REDUCTION_COMP_TYPE);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return own.has(CUDNN_ATTR_ENGINEHEUR_MODE) &&
             own.other(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) != nullptr;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return own.has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) &&
             own.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) != nullptr;
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return own.has(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) &&
             own.has(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    default:
      return false;  // not known here
  }
}

}  // namespace

Finish finish(Contents& own) {
  if (!is_sound(own)) {
    return {CUDNN_STATUS_BAD_PARAM, "attributes are missing or do not fit, or it is unknown"};
  }
  if (own.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
    own.engine = own.other(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine;
    if (own.engine.refuses) return {CUDNN_STATUS_NOT_SUPPORTED, "this engine does not do that"};
  }
  own.finalized = true;
  return {};
}

GraphConvolution convolution_in(const Contents& graph) {
  const Contents& operation = *graph.other(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Names& names = *names_of(operation.type);
  return {
      convolution_of(operation, names),
      {operation.other(names.image), operation.other(names.filter), operation.other(names.result)}};
}

bool is_of_one_type(const GraphConvolution& operation) {
  const StridedConvolution& all = operation.convolution;
  return all.image.narrow == all.filter.narrow && all.image.narrow == all.result.narrow;
}

}  // namespace tandem::test::stand_in
