// SPDX-License-Identifier: Apache-2.0
//
// Element by element: what fills, scales, adds and converts, activations and embeddings.
#include "common/kernels/cuda/elementwise.cuh"

#include "common/kernels/cuda/activation.cuh"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/embedding.cuh"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

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

}  // namespace

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

cudaError_t CudaOperations::launch(cudaStream_t stream, const WeightedSum& op) {
  return sum_rows(
      stream, rows_of(op.values.size()),
      WeightedSumSum{op.values.data(), op.weights.data(), op.sum.data(), op.values.size()},
      partials_.data());
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const ReluBackward& op) {
  return with_type(op.y.dtype(), [&]<class T>(T) {
    return for_each(stream, op.y.size(),
                    ReluBackwardElements<T>{as<T>(op.y.data()), as<T>(op.dy.data())});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const GeluBackward& op) {
  return with_type(op.before.dtype(), [&]<class T>(T) {
    return for_each(stream, op.before.size(),
                    GeluBackwardElements<T>{as<T>(op.before.data()), as<T>(op.dy.data())});
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const EmbeddingForward& op) {
  return for_each(stream, op.y.size(),
                  EmbeddingElements{.ids = op.ids.data(),
                                    .tokens = op.tokens.data(),
                                    .places = op.places.data(),
                                    .y = op.y.data(),
                                    .positions = op.shape.positions,
                                    .columns = op.shape.width});
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const EmbeddingBackward& op) {
  const EmbeddingShape& shape = op.shape;
  const cudaError_t status = for_each(stream, op.dplaces.size(),
                                      PlaceGradientElements{.dy = op.dy.data(),
                                                            .dplaces = op.dplaces.data(),
                                                            .samples = shape.rows / shape.positions,
                                                            .sample = op.dplaces.size()});
  if (status != cudaSuccess) return status;
  return for_each_row(stream, shape.rows,
                      TokenGradientRows{.ids = op.ids.data(),
                                        .dy = op.dy.data(),
                                        .dtokens = op.dtokens.data(),
                                        .rows = shape.rows,
                                        .width = shape.width});
}

}  // namespace tandem::cuda
