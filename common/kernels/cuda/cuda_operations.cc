// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_operations.h"

#include "common/kernels/cuda/attention.h"
#include "common/kernels/cuda/batch_norm.cuh"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operands.h"

namespace tandem::cuda {

namespace {

constexpr Bytes kPartials{kMostReductionBlocks * static_cast<std::int64_t>(sizeof(double))};

Bytes memory_needed(const CudaDevice& device, Precision precision) {
  const Gpu& gpu = device.gpu();
  check_precision(precision, gpu.compute_capability(), device.name());
  return Bytes{workspace_size(gpu.compute_capability()).value + kPartials.value};
}

// The partial sums of a normalisation.
Bytes scratch_size(const NormShape& shape, const ImageOptions& /*images*/) {
  return bytes_of<FloatPair>(ceil_div(shape.rows, norm_rows_each(shape.rows)) * shape.width);
}
Bytes scratch_size(const BatchNormShape& shape, const ImageOptions& images) {
  return bytes_of<FloatPair>(stretches_of(shape, images).sums());
}

Span<double> partials_in(ByteSpan memory) {
  const ByteSpan bytes = memory.subspan(memory.size() - kPartials.value, kPartials.value);
  return {reinterpret_cast<double*>(bytes.data()), kMostReductionBlocks, bytes.device()};
}

}  // namespace

CudaOperations::CudaOperations(CudaDevice& device, Precision precision, const ImageOptions& images)
    : device_(device),
      images_(images),
      memory_(device.allocate(memory_needed(device, precision))),
      workspace_(memory_->bytes().subspan(0, memory_->bytes().size() - kPartials.value)),
      partials_(partials_in(memory_->bytes())),
      products_(device.gpu(), precision, workspace_),
      sums_(device),
      scores_(device) {}

ConvolutionLibrary& CudaOperations::convolutions() {
  if (!convolutions_) convolutions_ = make_convolutions(device_, images_);
  return *convolutions_;
}

// Takes backward's memory with forward's: while backward runs, collectives of gradients may be in
// flight.
template <class Op>
void CudaOperations::add_scratch(Stream& stream, const Op& op, std::vector<Access>& all) {
  const auto add = [&all](ByteSpan memory) { all.push_back(writes(memory)); };
  if constexpr (
      requires { op.loss; } || requires { op.weights; }) {
    add(as_writable_bytes(partials_));
  } else if constexpr (requires { plan_of(op); }) {
    add(workspace_);
  } else if constexpr (requires { op.qkv; }) {
    const DType type = op.qkv.dtype();
    add(scores_.at_least(stream, scratch_size(tiles_of(op.shape, type), type)));
    add(workspace_);
  } else if constexpr (requires { op.gain; }) {
    add(sums_.at_least(stream, scratch_size(op.shape, images_)));
  }
}

template <class Op>
void CudaOperations::take(Stream& stream, const Op& op, const char* name) {
  if constexpr (requires { convolutions().enqueue(stream, op); }) {
    convolutions().enqueue(stream, op);
  } else {
    std::vector<Access> all = op.accesses();
    if constexpr (requires { fused_attention_->enqueue(stream, op); }) {
      if (!fused_attention_) fused_attention_ = make_fused_attention(device_);
      attention_ = op.shape;
      unfused_ = fused_attention_->enqueue(stream, op);
      if (unfused_.empty()) return;
    }
    add_scratch(stream, op, all);
    queue(stream, name, all, [&](cudaStream_t on) { return launch(on, op); });
  }
}

#define TANDEM_INSTANTIATE(Op, name) \
  template void CudaOperations::take(Stream& stream, const Op& op, const char* name);
TANDEM_EACH_OPERATION(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

std::map<std::string, std::string> CudaOperations::implementations() const {
  std::map<std::string, std::string> all;
  if (fused_attention_ && unfused_.empty()) {
    all.emplace("attention", fused_attention_->implementation(attention_));
  } else if (fused_attention_) {
    const Bytes scores =
        bytes_of<float>(attention_.rows() * attention_.heads * attention_.positions);
    all.emplace("attention", fmt::format("products and softmax, since {}; a layer's scores go "
                                         "through memory, up to {}",
                                         unfused_, to_string(scores)));
  }
  if (convolutions_) all.emplace("convolutions", convolutions_->implementations());
  return all;
}

std::unique_ptr<Operations> make_cuda_operations(Device& device, Precision precision,
                                                 const ImageOptions& images) {
  return std::make_unique<CudaOperations>(cuda_device(device), precision, images);
}

namespace {

// The version as text: "13.1" where CUDA says 13010.
std::string runtime_version() {
  int version = 0;
  static_cast<void>(cudaRuntimeGetVersion(&version));  // fails for no pointer only
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string cuda_library_version() {
  const auto part = [](libraryPropertyType which) {
    int value = 0;
    static_cast<void>(cublasLtGetProperty(which, &value));  // fails for unknown properties only
    return value;
  };
  const std::string images = convolution_library_version();
  return fmt::format("CUDA {}, cuBLASLt {}.{}.{}{}{}", runtime_version(), part(MAJOR_VERSION),
                     part(MINOR_VERSION), part(PATCH_LEVEL), images.empty() ? "" : ", ", images);
}

}  // namespace tandem::cuda
