// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/convolutions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/elementwise.cuh"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/cuda/updates.cuh"

namespace tandem::cuda {

namespace {

using Numbers = std::vector<std::int64_t>;

// An image, filter or result of `sizes`: (first, channels, height, width), whatever lies where; a
// filter's first are its outputs.
CudnnTensor operand(std::int64_t id, const ConvolutionKey& key, const Numbers& sizes,
                    bool channels_last) {
  const std::int64_t channels = sizes[1];
  const std::int64_t line = sizes[3] * channels;
  const bool written = key.pass == ConvolutionPass{id};
  const std::int64_t alignment = id == kImage    ? key.image_alignment
                                 : id == kFilter ? key.filter_alignment
                                                 : key.result_alignment;
  return {.id = id,
          .type = cudnn_type(written ? key.result : key.type),
          .sizes = sizes,
          .strides = channels_last ? Numbers{sizes[2] * line, 1, line, channels} : Numbers{},
          .alignment = alignment};
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

// How a pass is called, and by cuDNN it and its attributes.
struct PassNames {
  const char* own;
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t window;
  cudnnBackendAttributeName_t image;
  cudnnBackendAttributeName_t filter;
  cudnnBackendAttributeName_t result;
  cudnnBackendAttributeName_t alpha;
  cudnnBackendAttributeName_t beta;
};

#define TANDEM_PASS(own, operation, pass, image, filter, result)       \
  return {                                                             \
    own, CUDNN_BACKEND_OPERATION_CONVOLUTION_##operation##_DESCRIPTOR, \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_CONV_DESC,           \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_##image,             \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_##filter,            \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_##result,            \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_ALPHA,               \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##pass##_BETA                 \
  }

PassNames names_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      TANDEM_PASS("convolution_forward", FORWARD, FORWARD, X, W, Y);
    case ConvolutionPass::kBackwardInput:
      TANDEM_PASS("convolution_backward_input", BACKWARD_DATA, BWD_DATA, DX, W, DY);
    case ConvolutionPass::kBackwardWeight:
      TANDEM_PASS("convolution_backward_weight", BACKWARD_FILTER, BWD_FILTER, X, DW, DY);
  }
  fail(ErrorKind::kLogic, "no such pass of a convolution");
}
#undef TANDEM_PASS

}  // namespace

CudnnGraph convolution_graph(const CudnnApi& api, const ConvolutionKey& key,
                             const ImageOptions& how) {
  const ConvolutionShape& s = key.shape;
  const auto of = [&](std::int64_t id, const Numbers& sizes) {
    return operand(id, key, sizes, how.channels_last);
  };
  CudnnGraph graph(api);
  const PassNames names = names_of(key.pass);
  CudnnDescriptor operation(api, names.operation);
  operation.set(names.window, window_of(graph, key.shape));
  operation.set(names.image, graph.tensor(of(kImage, {s.batch, s.in, s.height, s.width})));
  operation.set(names.filter, graph.tensor(of(kFilter, {s.out, s.in, s.kernel, s.kernel})));
  operation.set(names.result,
                graph.tensor(of(kResult, {s.batch, s.out, s.out_height(), s.out_width()})));
  operation.set(names.alpha, 1.0F);
  operation.set(names.beta, 0.0F);  // what lies in the result is not read
  graph.add(std::move(operation));
  return graph;
}

std::vector<cudnnBackendNumericalNote_t> refused_notes(DType type, const ImageOptions& how) {
  std::vector<cudnnBackendNumericalNote_t> notes{CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                                                 CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
                                                 CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
                                                 CUDNN_NUMERICAL_NOTE_FFT,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
                                                 CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13};
  if (type == DType::kFloat32 && how.fp32_factors) {
    notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  }
  return notes;
}

std::string to_string(const ConvolutionKey& key) {
  const ConvolutionShape& s = key.shape;
  return fmt::format("{} of {} x {} x {} x {} -> {}, kernel {}, stride {}, in {}",
                     names_of(key.pass).own, s.batch, s.height, s.width, s.in, s.out, s.kernel,
                     s.stride, name_of(key.type));
}

namespace {

constexpr std::int64_t kAlignment = 256;  // of what lies behind a workspace

ConvolutionKey key_of(ConvolutionPass pass, const ConvolutionShape& shape, ConstAnySpan image,
                      ConstAnySpan filter, ConstAnySpan result) {
  const DType type = image.dtype();
  return {.pass = pass,
          .shape = shape,
          .type = type,
          .result = type,
          .image_alignment = cudnn_alignment(image.data(), type),
          .filter_alignment = cudnn_alignment(filter.data(), type),
          .result_alignment = cudnn_alignment(result.data(), type)};
}

// If weights are narrower than their gradient: the place it is first written to.
Bytes narrow_gradient(const ConvolutionKey& key) {
  const bool is = key.pass == ConvolutionPass::kBackwardWeight && key.type != DType::kFloat32;
  return Bytes{is ? key.shape.weight_count() * size_of(key.type) : 0};
}

Bytes padded(Bytes size) { return Bytes{round_up(size.value, kAlignment)}; }

}  // namespace

Convolutions::Convolutions(CudaDevice& device, const ImageOptions& how, const LoadedCudnn& cudnn)
    : gpu_(device.gpu()),
      how_(how),
      cudnn_(cudnn),
      memory_(device),
      session_(device.gpu(), *cudnn.api) {}

std::string Convolutions::implementations() const {
  const auto takes = [&](auto holds) { return std::ranges::any_of(plans_, holds); };
  const bool narrow = takes([](const auto& plan) { return plan.first.type != DType::kFloat32; });
  const bool tf32 = takes([](const auto& plan) { return plan.second.tensor_cores; });
  return fmt::format("cuDNN {}, channels {}, {}", cudnn_.version,
                     how_.channels_last ? "last" : "first",
                     narrow ? "bf16" : (tf32 ? "tf32" : "fp32"));
}

// The largest workspace of an engine. For ResNet-50 up to a batch of 256, cuDNN 9.19's first
// suggestions take 1.23 GB at most: with channels first the best ones turn images round in their
// workspace. Torch has no limit and takes the first one that it can allocate
// (aten/src/ATen/native/cudnn/Conv_v8.cpp, try_configs); a fixed one makes all ranks choose alike,
// however full their GPUs are.
constexpr Bytes kMostWorkspace = gib(2);

PlanChoice Convolutions::choose(const ConvolutionKey& key) {
  const DeviceGuard here(gpu_.ordinal());
  try {
    return choose_plan(*cudnn_.api, session_.handle(), convolution_graph(*cudnn_.api, key, how_),
                       {refused_notes(key.type, how_), kMostWorkspace});
  } catch (const CudnnError& refusal) {
    return {std::nullopt, refusal.what()};
  }
}

const CudnnPlan& Convolutions::find_or_make(const ConvolutionKey& key) {
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  PlanChoice choice = choose(key);
  if (!choice.plan) {
    gpu_.throw_if_failed();
    fail(ErrorKind::kFailure, "cuDNN has no engine for {} on GPU {} ({}): {}", to_string(key),
         gpu_.ordinal(), gpu_.name(), choice.trouble);
  }
  return plans_.emplace(key, std::move(*choice.plan)).first->second;
}

// With operands aligned as they nearly always are. Pictures themselves, of 3 channels, want no
// gradient, whose workspace would be the largest. What cannot be had is said when it is asked for.
void Convolutions::prepare_backward(Stream& stream, const ConvolutionKey& forward) {
  ConvolutionKey key{.shape = forward.shape, .type = forward.type, .result = forward.type};
  for (const ConvolutionPass pass :
       {ConvolutionPass::kBackwardInput, ConvolutionPass::kBackwardWeight}) {
    key.pass = pass;
    const bool of_pictures = pass == ConvolutionPass::kBackwardInput && key.shape.in <= 3;
    if (of_pictures || plans_.contains(key)) continue;
    PlanChoice choice = choose(key);
    if (!choice.plan) continue;
    static_cast<void>(memory_for(stream, key, *choice.plan));
    plans_.emplace(key, std::move(*choice.plan));
  }
}

ByteSpan Convolutions::memory_for(Stream& stream, const ConvolutionKey& key,
                                  const CudnnPlan& plan) {
  const std::int64_t all = padded(plan.workspace).value + narrow_gradient(key).value;
  return memory_.at_least(stream, Bytes{std::max<std::int64_t>(kAlignment, all)});
}

template <class Op>
void Convolutions::start(Stream& stream, const Op& op, ConvolutionPass pass, ConstAnySpan image,
                         ConstAnySpan filter, ConstAnySpan result, Span<float> dweight) {
  std::vector<Access> all = op.accesses();
  const ConvolutionKey key = key_of(pass, op.shape, image, filter, result);
  if (pass == ConvolutionPass::kForward && !plans_.contains(key)) prepare_backward(stream, key);
  const CudnnPlan& plan = find_or_make(key);
  const ByteSpan memory = memory_for(stream, key, plan);
  std::byte* const behind = memory.data() + padded(plan.workspace).value;
  const bool converts = filter.data() == nullptr;
  const std::array<CudnnOperand, 3> operands{CudnnOperand{kImage, image.data()},
                                             {kFilter, converts ? behind : filter.data()},
                                             {kResult, result.data()}};
  all.push_back(writes(memory));
  queue(stream, names_of(pass).own, all, [&](cudaStream_t on) {
    session_.enqueue(on, plan, operands, memory.data(), [&] { return to_string(key); });
    if (!converts) return cudaSuccess;
    EachTensor widened(ConvertElements<BFloat16, float>{.divisor = 1});
    widened.add({as<BFloat16>(behind), dweight.data()}, dweight.size());
    return for_each(on, widened.count(), widened);
  });
}

void Convolutions::enqueue(Stream& stream, const ConvolutionForward& op) {
  start(stream, op, ConvolutionPass::kForward, op.x, op.weight, op.y);
}

void Convolutions::enqueue(Stream& stream, const ConvolutionBackwardInput& op) {
  start(stream, op, ConvolutionPass::kBackwardInput, op.dx, op.weight, op.dy);
}

void Convolutions::enqueue(Stream& stream, const ConvolutionBackwardWeight& op) {
  // A narrow one lies in the memory behind the workspace, aligned as that is.
  const ConstAnySpan filter =
      op.x.dtype() == DType::kFloat32
          ? ConstAnySpan(op.dweight)
          : ConstAnySpan{nullptr, op.dweight.size(), op.x.dtype(), op.x.device()};
  start(stream, op, ConvolutionPass::kBackwardWeight, op.x, filter, op.dy, op.dweight);
}

std::string lack_of_convolutions() {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api != nullptr) return "";
  return "on GPUs convolutions are cuDNN's, and " + cudnn.trouble;
}

std::string convolution_library_version() {
  const LoadedCudnn& cudnn = load_cudnn();
  return cudnn.api == nullptr ? "" : "cuDNN " + cudnn.version;
}

std::unique_ptr<ConvolutionLibrary> make_convolutions(CudaDevice& device, const ImageOptions& how) {
  const LoadedCudnn& cudnn = load_cudnn();
  if (cudnn.api == nullptr) fail(ErrorKind::kUsage, "{}", lack_of_convolutions());
  return std::make_unique<Convolutions>(device, how, cudnn);
}

}  // namespace tandem::cuda
