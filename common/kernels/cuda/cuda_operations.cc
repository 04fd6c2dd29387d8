// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_operations.h"

#include "common/kernels/cuda/attention.h"
#include "common/kernels/cuda/batch_norm_parts.h"
#include "common/kernels/cuda/elementwise.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/cuda/row_functions.h"
#include "common/kernels/cuda/update_elements.h"
#include "common/kernels/operands.h"

namespace tandem::cuda {
namespace {

constexpr Bytes kPartials{kMostReductionBlocks * static_cast<std::int64_t>(sizeof(double))};

Bytes memory_needed(const CudaDevice& device, Precision precision) {
  const Gpu& gpu = device.gpu();
  check_precision(precision, gpu.compute_capability(), device.name());
  return Bytes{workspace_size(gpu.compute_capability()).value + kPartials.value};
}

// Of a normalisation's sums.
Bytes scratch_size(std::int64_t rows, std::int64_t columns) {
  return bytes_of<FloatPair>(norm_parts(rows, columns) * columns);
}

Span<double> partials_in(ByteSpan memory) {
  const ByteSpan bytes = memory.subspan(memory.size() - kPartials.value, kPartials.value);
  return {reinterpret_cast<double*>(bytes.data()), kMostReductionBlocks, bytes.device()};
}

cudaError_t add_bias_and_activate(cudaStream_t stream, const LinearForward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    BiasActivationElements<T>{.bias = as<T>(data_or_null(op.bias)),
                                              .y = as<T>(op.y.data()),
                                              .before = as<T>(data_or_null(op.before)),
                                              .out = op.shape.out,
                                              .relu = op.activation == Activation::kRelu});
  });
}

cudaError_t sum_bias_gradient(cudaStream_t stream, const LinearBackwardWeight& op) {
  return with_type(op.dy.dtype(), [&]<class T>(T) {
    return sum_columns(stream, op.shape.batch, op.shape.out, as<T>(op.dy.data()), op.dbias.data());
  });
}

template <class Distribution>
cudaError_t fill(cudaStream_t stream, const FillRandom& op) {
  const FillBlocks<Distribution> blocks{op.values.data(), op.values.size(), op.seed, op.first,
                                        op.scale};
  return for_each(stream, blocks.blocks(), blocks);
}

template <class In, class Out>
cudaError_t convert(cudaStream_t stream, const Convert& op) {
  return for_each(stream, op.out.size(),
                  ConvertElements<In, Out>{as<In>(op.in.data()), as<Out>(op.out.data()), op.divisor,
                                           op.columns, op.padding});
}

// In as few launches as hold all tensors; `addresses` gives a tensor's.
template <class Tensor, class Update, class Addresses>
cudaError_t for_each_tensor(cudaStream_t stream, const std::vector<Tensor>& tensors,
                            const Update& update, const Addresses& addresses) {
  EachTensor<Update> listed(update);
  for (const Tensor& tensor : tensors) {
    if (listed.is_full()) {
      const cudaError_t status = for_each(stream, listed.count(), listed);
      if (status != cudaSuccess) return status;
      listed = EachTensor<Update>(update);
    }
    if (!tensor.weight.empty()) listed.add(addresses(tensor), tensor.weight.size());
  }
  return for_each(stream, listed.count(), listed);
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

cudaError_t CudaOperations::launch(cudaStream_t stream, const LinearForward& op) {
  // Neither matrix of the product is written; cuBLASLt has one pointer type for both directions.
  auto* const bias = const_cast<std::byte*>(data_or_null(op.bias));
  const Epilogue epilogue = products_.enqueue(
      stream, plan_of(op),
      {op.weight.data(), op.x.data(), op.y.data(), bias, data_or_null(op.before)});
  return epilogue == Epilogue::kDone ? cudaSuccess : add_bias_and_activate(stream, op);
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const LinearBackwardInput& op) {
  products_.enqueue(stream, plan_of(op), {op.weight.data(), op.dy.data(), op.dx.data()});
  return cudaSuccess;
}

// The columns of a padded dy in whole packs are a product of their own, which may read them so:
// the gradient has no room for padding.
cudaError_t CudaOperations::launch(cudaStream_t stream, const LinearBackwardWeight& op) {
  constexpr std::int64_t kPackOfColumns = 8;
  ProductPlan plan = plan_of(op);
  const std::int64_t columns = op.shape.out;
  const std::int64_t packed = op.padding > 0 ? columns - columns % kPackOfColumns : 0;
  const auto take = [&](std::int64_t first, std::int64_t count) {
    plan.b.rows = plan.d.columns = count;
    return products_.enqueue(stream, plan,
                             {op.x.data(), op.dy.data() + first * size_of(op.dy.dtype()),
                              op.dweight.data() + first * op.shape.in, data_or_null(op.dbias)});
  };
  if (packed > 0) take(0, packed);
  if (packed == columns) return cudaSuccess;
  const Epilogue epilogue = take(packed, columns - packed);
  return epilogue == Epilogue::kDone ? cudaSuccess : sum_bias_gradient(stream, op);
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const ReluBackward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    ReluBackwardElements<T>{as<T>(op.y.data()), as<T>(op.dy.data())});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const MseLoss& op) {
  const std::int64_t count = op.prediction.size();
  return sum_rows(stream, rows_of(count),
                  MseSum{.prediction = op.prediction.data(),
                         .target = op.target.data(),
                         .gradient = data_or_null(op.gradient),
                         .loss = op.loss.data(),
                         .count = count},
                  partials_.data());
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const MseLossBackward& op) {
  const std::int64_t count = op.prediction.size();
  return for_each(stream, count,
                  MseBackwardElements{.prediction = op.prediction.data(),
                                      .target = op.target.data(),
                                      .loss_gradient = op.loss_gradient.data(),
                                      .gradient = op.gradient.data(),
                                      .two_over_count = 2.0F / static_cast<float>(count)});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLoss& op) {
  return sum_rows(stream, op.target.size(),
                  CrossEntropySum{.rows = {.prediction = op.prediction.data(),
                                           .target = op.target.data(),
                                           .gradient = data_or_null(op.gradient),
                                           .classes = op.classes},
                                  .loss = op.loss.data(),
                                  .count = op.target.size()},
                  partials_.data());
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLossBackward& op) {
  return for_each_row(stream, op.target.size(),
                      CrossEntropyBackwardRows{.rows = {.prediction = op.prediction.data(),
                                                        .target = op.target.data(),
                                                        .gradient = op.gradient.data(),
                                                        .classes = op.classes},
                                               .loss_gradient = op.loss_gradient.data(),
                                               .count = op.target.size()});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const WeightedSum& op) {
  return sum_rows(
      stream, rows_of(op.values.size()),
      WeightedSumSum{op.values.data(), op.weights.data(), op.sum.data(), op.values.size()},
      partials_.data());
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const SgdUpdate& op) {
  return for_each_tensor(stream, op.tensors,
                         SgdElements{.learning_rate = op.learning_rate, .momentum = op.momentum},
                         [](const SgdUpdate::Tensor& t) -> SgdElements::Tensor {
                           return {t.gradient.data(), t.velocity.data(), t.weight.data()};
                         });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AdamUpdate& op) {
  AdamClock* const clock = &clock_of(op);
  const cudaError_t status = for_each(stream, 1, AdamClockElement{clock, op.rates});
  if (status != cudaSuccess) return status;
  return for_each_tensor(
      stream, op.tensors, AdamElements{clock},
      [](const AdamUpdate::Tensor& t) -> AdamElements::Tensor {
        return {t.gradient.data(), t.first.data(), t.second.data(), t.weight.data()};
      });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const FillRandom& op) {
  switch (op.distribution) {
    case Distribution::kUniform:
      return fill<Uniform>(stream, op);
    case Distribution::kSmallIntegers:
      return fill<SmallIntegers>(stream, op);
  }
  fail(ErrorKind::kLogic, "no such distribution");
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Fill& op) {
  return for_each(stream, op.values.size(), FillElements{op.values.data(), op.constant});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Scale& op) {
  return for_each(stream, op.in.size(), ScaleElements{op.in.data(), op.out.data(), op.factor});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Add& op) {
  return for_each(stream, op.a.size(), AddElements{op.a.data(), op.b.data(), op.sum.data()});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AddScalar& op) {
  return for_each(stream, op.values.size(),
                  AddScalarElements{op.values.data(), op.values.data(), op.constant});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Subtract& op) {
  return for_each(stream, op.a.size(),
                  SubtractElements{op.a.data(), op.b.data(), op.difference.data()});
}

// accesses() has seen to it that one of the two is fp32 and the other is not.
cudaError_t CudaOperations::launch(cudaStream_t stream, const Convert& op) {
  const bool narrows = op.in.dtype() == DType::kFloat32;
  switch (narrows ? op.out.dtype() : op.in.dtype()) {
    case DType::kBFloat16:
      return narrows ? convert<float, BFloat16>(stream, op) : convert<BFloat16, float>(stream, op);
    case DType::kFloat16:
      return narrows ? convert<float, Float16>(stream, op) : convert<Float16, float>(stream, op);
    case DType::kFloat32:
      break;
  }
  fail(ErrorKind::kLogic, "a conversion of fp32 to fp32");
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Orthogonalise& op) {
  return orthogonalise(stream, op.rows, op.matrix.size() / op.rows, op.matrix.data());
}

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
  } else if constexpr (requires {
                         op.shape.width;
                         op.gain;
                       }) {
    add(sums_.at_least(stream, scratch_size(op.shape.rows, op.shape.width)));
  } else if constexpr (requires { op.gain; }) {
    add(sums_.at_least(stream, scratch_size(op.shape.rows, op.shape.channels)));
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
      if (fused_attention_->enqueue(stream, op)) return;
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
  if (fused_attention_) all.emplace("attention", fused_attention_->implementations());
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
