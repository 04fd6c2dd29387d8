// SPDX-License-Identifier: Apache-2.0
//
// Element by element: what fills, scales, adds and converts, activations, embeddings and
// optimizers' updates.
#include "common/kernels/cuda/elementwise.cuh"

#include <vector>

#include "common/kernels/cuda/activation.cuh"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/embedding.cuh"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/updates.cuh"

namespace tandem::cuda {

namespace {

template <class Distribution>
cudaError_t fill(cudaStream_t stream, const FillRandom& op) {
  const FillBlocks<Distribution> blocks{op.values.data(), op.values.size(), op.seed, op.first,
                                        op.scale};
  return for_each(stream, blocks.blocks(), blocks);
}

// In as few launches as hold all tensors; `add` adds one to a list.
template <class Tensor, class Update, class Add>
cudaError_t for_each_tensor(cudaStream_t stream, const std::vector<Tensor>& tensors,
                            const Update& update, const Add& add) {
  EachTensor<Update> listed(update);
  for (const Tensor& tensor : tensors) {
    if (listed.is_full()) {
      const cudaError_t status = for_each(stream, listed.count(), listed);
      if (status != cudaSuccess) return status;
      listed = EachTensor<Update>(update);
    }
    add(listed, tensor);
  }
  return for_each(stream, listed.count(), listed);
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
  return for_each_tensor(
      stream, op.tensors, AddScalarElements{op.constant},
      [](auto& listed, Span<float> values) { listed.add(values.data(), values.size()); });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const Convert& op) {
  const auto between = [&]<class In, class Out>(In, Out) {
    return for_each_tensor(stream, op.tensors, ConvertElements<In, Out>{op.divisor},
                           [](auto& listed, const Convert::Tensor& t) {
                             listed.add({as<In>(t.in.data()), as<Out>(t.out.data())}, t.out.size());
                           });
  };
  const auto with = [&](auto narrow) {
    return op.narrows() ? between(0.0F, narrow) : between(narrow, 0.0F);
  };
  return op.narrow_type() == DType::kBFloat16 ? with(BFloat16{}) : with(Float16{});
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

cudaError_t CudaOperations::launch(cudaStream_t stream, const SgdUpdate& op) {
  return for_each_tensor(
      stream, op.tensors, SgdElements{.learning_rate = op.learning_rate, .momentum = op.momentum},
      [](auto& listed, const SgdUpdate::Tensor& t) {
        listed.add({t.gradient.data(), t.velocity.data(), t.weight.data()}, t.weight.size());
      });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AdamUpdate& op) {
  AdamClock* const clock = &clock_of(op);
  const cudaError_t status = for_each(stream, 1, AdamClockElement{clock, op.rates});
  if (status != cudaSuccess) return status;
  return for_each_tensor(
      stream, op.tensors, AdamElements{clock}, [](auto& listed, const AdamUpdate::Tensor& t) {
        listed.add({t.gradient.data(), t.first.data(), t.second.data(), t.weight.data()},
                   t.weight.size());
      });
}

}  // namespace tandem::cuda
