// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/convolution_graph.h"

#include <utility>

namespace tandem::cuda {
namespace {

using Numbers = std::vector<std::int64_t>;

const char* name_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      return "convolution_forward";
    case ConvolutionPass::kBackwardInput:
      return "convolution_backward_input";
    case ConvolutionPass::kBackwardWeight:
      return "convolution_backward_weight";
  }
  return "";
}

// (first, height, width, channels) in memory; a filter's first are its outputs.
CudnnTensor channels_last(std::int64_t id, DType type, const Numbers& sizes,
                          std::int64_t alignment) {
  const std::int64_t height = sizes[1];
  const std::int64_t width = sizes[2];
  const std::int64_t channels = sizes[3];
  return {.id = id,
          .type = cudnn_type(type),
          .sizes = {sizes[0], channels, height, width},
          .strides = {height * width * channels, 1, width * channels, channels},
          .alignment = alignment};
}

CudnnTensor image_of(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  const bool written = key.pass == ConvolutionPass::kBackwardInput;
  return channels_last(kImage, written ? key.result : key.type, {s.batch, s.height, s.width, s.in},
                       key.image_alignment);
}

CudnnTensor filter_of(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  const bool written = key.pass == ConvolutionPass::kBackwardWeight;
  return channels_last(kFilter, written ? key.result : key.type, {s.out, s.kernel, s.kernel, s.in},
                       key.filter_alignment);
}

CudnnTensor result_of(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  const bool written = key.pass == ConvolutionPass::kForward;
  return channels_last(kResult, written ? key.result : key.type,
                       {s.batch, s.out_height(), s.out_width(), s.out}, key.result_alignment);
}

// The window and how it moves.
const CudnnDescriptor& window_of(CudnnGraph& graph, const ConvolutionShape& shape) {
  CudnnDescriptor& window = graph.part(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const Numbers padding(2, shape.padding);
  window.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  window.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  window.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  window.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, Numbers(2, 1));
  window.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, Numbers(2, shape.stride));
  window.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
  window.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
  window.finalize();
  return window;
}

// How cuDNN calls a pass and its attributes.
struct PassNames {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t window;
  cudnnBackendAttributeName_t image;
  cudnnBackendAttributeName_t filter;
  cudnnBackendAttributeName_t result;
  cudnnBackendAttributeName_t alpha;
  cudnnBackendAttributeName_t beta;
};

PassNames names_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionPass::kBackwardInput:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionPass::kBackwardWeight:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
  fail(ErrorKind::kLogic, "no such pass of a convolution");
}

}  // namespace

CudnnGraph convolution_graph(const CudnnApi& api, cudnnHandle_t handle, const ConvolutionKey& key) {
  CudnnGraph graph(api);
  const PassNames names = names_of(key.pass);
  CudnnDescriptor operation(api, names.operation);
  operation.set(names.window, window_of(graph, key.shape));
  operation.set(names.image, graph.tensor(image_of(key)));
  operation.set(names.filter, graph.tensor(filter_of(key)));
  operation.set(names.result, graph.tensor(result_of(key)));
  operation.set(names.alpha, 1.0F);
  operation.set(names.beta, 0.0F);  // what lies in the result is not read
  graph.add(std::move(operation));
  graph.finish(handle);
  return graph;
}

std::vector<cudnnBackendNumericalNote_t> refused_notes(DType type, Precision precision) {
  std::vector<cudnnBackendNumericalNote_t> notes{CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                                                 CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
                                                 CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
                                                 CUDNN_NUMERICAL_NOTE_FFT,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13};
  if (type == DType::kFloat32 && precision != Precision::kTf32) {
    notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  }
  return notes;
}

std::string to_string(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  return fmt::format("{} of {} x {} x {} x {} -> {}, kernel {}, stride {}, in {}",
                     name_of(key.pass), s.batch, s.height, s.width, s.in, s.out, s.kernel, s.stride,
                     name_of(key.type));
}

}  // namespace tandem::cuda
