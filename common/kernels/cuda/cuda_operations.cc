// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_operations.h"

#include "common/kernels/cuda/cuda_images.h"
#include "common/kernels/cuda/device_needs.h"
#include "common/kernels/cuda/element_type.h"
#include "common/kernels/cuda/elementwise.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/orthogonalise.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/cuda/row_functions.h"
#include "common/kernels/cuda/sums.h"

namespace tandem::cuda {
namespace {

constexpr Bytes kPartials{kMostReductionBlocks * static_cast<std::int64_t>(sizeof(double))};

Bytes memory_needed(const CudaDevice& device, Precision precision) {
  const Gpu& gpu = device.gpu();
  check_precision(precision, gpu.compute_capability(), device.name());
  return Bytes{workspace_size(gpu.compute_capability()).value + kPartials.value};
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
  return for_each(
      stream, op.in.size(),
      ConvertElements<In, Out>{as<In>(op.in.data()), as<Out>(op.out.data()), op.divisor});
}

// check_sizes() has seen to it that one of the two is fp32 and the other is not.
cudaError_t convert(cudaStream_t stream, const Convert& op) {
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

}  // namespace

CudaOperations::CudaOperations(CudaDevice& device, Precision precision)
    : device_(device),
      precision_(precision),
      memory_(device.allocate(memory_needed(device, precision))),
      workspace_(memory_->bytes().subspan(0, memory_->bytes().size() - kPartials.value)),
      partials_(partials_in(memory_->bytes())),
      products_(device.gpu(), precision, workspace_),
      sums_of_rows_(device),
      scores_(device) {}

void CudaOperations::enqueue(Stream& stream, const LinearForward& op) {
  queue(stream, "linear_forward", op, workspace_, [&](cudaStream_t on) {
    // Neither matrix of the product is written; cuBLASLt has one pointer type for both directions.
    auto* const bias = const_cast<std::byte*>(data_or_null(op.bias));
    const Epilogue epilogue = products_.enqueue(
        on, plan_of(op),
        {op.weight.data(), op.x.data(), op.y.data(), bias, data_or_null(op.before)});
    return epilogue == Epilogue::kDone ? cudaSuccess : add_bias_and_activate(on, op);
  });
}

void CudaOperations::enqueue(Stream& stream, const LinearBackwardInput& op) {
  queue(stream, "linear_backward_input", op, workspace_, [&](cudaStream_t on) {
    products_.enqueue(on, plan_of(op), {op.weight.data(), op.dy.data(), op.dx.data()});
    return cudaSuccess;
  });
}

void CudaOperations::enqueue(Stream& stream, const LinearBackwardWeight& op) {
  queue(stream, "linear_backward_weight", op, workspace_, [&](cudaStream_t on) {
    const Epilogue epilogue = products_.enqueue(
        on, plan_of(op), {op.x.data(), op.dy.data(), op.dweight.data(), data_or_null(op.dbias)});
    return epilogue == Epilogue::kDone ? cudaSuccess : sum_bias_gradient(on, op);
  });
}

void CudaOperations::enqueue(Stream& stream, const ReluBackward& op) {
  queue(stream, "relu_backward", op, [&](cudaStream_t on) {
    return with_type(op.y.dtype(), [&]<class T>(T) {
      return for_each(on, op.y.size(),
                      ReluBackwardElements<T>{as<T>(op.y.data()), as<T>(op.dy.data())});
    });
  });
}

void CudaOperations::enqueue(Stream& stream, const MseLoss& op) {
  queue(stream, "mse_loss", op, as_writable_bytes(partials_), [&](cudaStream_t on) {
    const std::int64_t count = op.prediction.size();
    return sum_up(on, count,
                  MseSum{.prediction = op.prediction.data(),
                         .target = op.target.data(),
                         .gradient = data_or_null(op.gradient),
                         .loss = op.loss.data(),
                         .count = count,
                         .two_over_count = 2.0F / static_cast<float>(count)},
                  partials_.data());
  });
}

void CudaOperations::enqueue(Stream& stream, const MseLossBackward& op) {
  queue(stream, "mse_loss_backward", op, [&](cudaStream_t on) {
    const std::int64_t count = op.prediction.size();
    return for_each(on, count,
                    MseBackwardElements{.prediction = op.prediction.data(),
                                        .target = op.target.data(),
                                        .loss_gradient = op.loss_gradient.data(),
                                        .gradient = op.gradient.data(),
                                        .two_over_count = 2.0F / static_cast<float>(count)});
  });
}

void CudaOperations::enqueue(Stream& stream, const CrossEntropyLoss& op) {
  queue(stream, "cross_entropy_loss", op, as_writable_bytes(partials_), [&](cudaStream_t on) {
    return sum_rows(on, op.target.size(),
                    CrossEntropySum{.rows = {.prediction = op.prediction.data(),
                                             .target = op.target.data(),
                                             .gradient = data_or_null(op.gradient),
                                             .classes = op.classes},
                                    .loss = op.loss.data(),
                                    .count = op.target.size()},
                    partials_.data());
  });
}

void CudaOperations::enqueue(Stream& stream, const CrossEntropyLossBackward& op) {
  queue(stream, "cross_entropy_loss_backward", op, [&](cudaStream_t on) {
    return for_each_row(on, op.target.size(),
                        CrossEntropyBackwardRows{.rows = {.prediction = op.prediction.data(),
                                                          .target = op.target.data(),
                                                          .gradient = op.gradient.data(),
                                                          .classes = op.classes},
                                                 .loss_gradient = op.loss_gradient.data(),
                                                 .count = op.target.size()});
  });
}

void CudaOperations::enqueue(Stream& stream, const WeightedSum& op) {
  queue(stream, "weighted_sum", op, as_writable_bytes(partials_), [&](cudaStream_t on) {
    return sum_up(on, op.values.size(),
                  WeightedSumSum{op.values.data(), op.weights.data(), op.sum.data()},
                  partials_.data());
  });
}

void CudaOperations::enqueue(Stream& stream, const SgdUpdate& op) {
  queue(stream, "sgd_update", op, [&](cudaStream_t on) {
    return for_each(on, op.weight.size(),
                    SgdElements{.gradient = op.gradient.data(),
                                .velocity = op.velocity.data(),
                                .weight = op.weight.data(),
                                .learning_rate = op.learning_rate,
                                .momentum = op.momentum});
  });
}

void CudaOperations::enqueue(Stream& stream, const AdamUpdate& op) {
  queue(stream, "adam_update", op, [&](cudaStream_t on) {
    return for_each(on, op.weight.size(),
                    AdamElements{.gradient = op.gradient.data(),
                                 .first = op.first.data(),
                                 .second = op.second.data(),
                                 .weight = op.weight.data(),
                                 .f = AdamFactors(op)});
  });
}

void CudaOperations::enqueue(Stream& stream, const FillRandom& op) {
  queue(stream, "fill_random", op, [&](cudaStream_t on) {
    switch (op.distribution) {
      case Distribution::kUniform:
        return fill<Uniform>(on, op);
      case Distribution::kSmallIntegers:
        return fill<SmallIntegers>(on, op);
    }
    fail(ErrorKind::kLogic, "no such distribution");
  });
}

void CudaOperations::enqueue(Stream& stream, const Fill& op) {
  queue(stream, "fill", op, [&](cudaStream_t on) {
    return for_each(on, op.values.size(), FillElements{op.values.data(), op.constant});
  });
}

void CudaOperations::enqueue(Stream& stream, const Scale& op) {
  queue(stream, "scale", op, [&](cudaStream_t on) {
    return for_each(on, op.in.size(), ScaleElements{op.in.data(), op.out.data(), op.factor});
  });
}

void CudaOperations::enqueue(Stream& stream, const Add& op) {
  queue(stream, "add", op, [&](cudaStream_t on) {
    return for_each(on, op.a.size(), AddElements{op.a.data(), op.b.data(), op.sum.data()});
  });
}

void CudaOperations::enqueue(Stream& stream, const AddScalar& op) {
  queue(stream, "add_scalar", op, [&](cudaStream_t on) {
    return for_each(on, op.values.size(), AddScalarElements{op.values.data(), op.constant});
  });
}

void CudaOperations::enqueue(Stream& stream, const Subtract& op) {
  queue(stream, "subtract", op, [&](cudaStream_t on) {
    return for_each(on, op.a.size(),
                    SubtractElements{op.a.data(), op.b.data(), op.difference.data()});
  });
}

void CudaOperations::enqueue(Stream& stream, const Convert& op) {
  queue(stream, "convert", op, [&](cudaStream_t on) { return convert(on, op); });
}

void CudaOperations::enqueue(Stream& stream, const Orthogonalise& op) {
  queue(stream, "orthogonalise", op, [&](cudaStream_t on) {
    return orthogonalise(on, op.rows, op.matrix.size() / op.rows, op.matrix.data());
  });
}

ImageOperations* CudaOperations::images() {
  if (!images_) images_ = make_cuda_images(device_, precision_);
  return images_.get();
}

std::unique_ptr<Operations> make_cuda_operations(Device& device, Precision precision) {
  return std::make_unique<CudaOperations>(cuda_device(device), precision);
}

namespace {

// Of 13010: "13.1".
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
  const std::string images = cuda_image_library_version();
  return fmt::format("CUDA {}, cuBLASLt {}.{}.{}{}{}", runtime_version(), part(MAJOR_VERSION),
                     part(MINOR_VERSION), part(PATCH_LEVEL), images.empty() ? "" : ", ", images);
}

}  // namespace tandem::cuda
