// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/linear.cuh"

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/kernels/cuda/batch_norm.cuh"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/matrix_products.h"

namespace tandem::cuda {

namespace {

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

// In the products' workspace, since it comes behind one.
cudaError_t sum_bias_gradient(cudaStream_t stream, const LinearBackwardWeight& op,
                              ByteSpan workspace) {
  const Stretches stretches(op.shape.batch, {op.shape.out, 1});
  TANDEM_CHECK(bytes_of<FloatPair>(stretches.sums()).value <= workspace.size(),
               "sums of {} columns in {} bytes", op.shape.out, workspace.size());
  // The first of each pair alone is wanted.
  auto* const partials = reinterpret_cast<FloatPair*>(workspace.data());
  const cudaError_t status = with_type(op.dy.dtype(), [&]<class T>(T) {
    return sum_stretches(
        stream, StretchSums<GradientTerms<T>>{
                    {.x = as<T>(op.dy.data()), .dy = as<T>(op.dy.data()), .partials = partials},
                    stretches});
  });
  if (status != cudaSuccess) return status;
  return for_each_row(stream, op.shape.out,
                      ParameterGradients{.partials = partials,
                                         .parts = stretches.parts(),
                                         .channels = op.shape.out,
                                         .rstd = nullptr,
                                         .dgain = nullptr,
                                         .dbias = op.dbias.data()});
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const LinearForward& op) {
  // Neither matrix of the product is written; cuBLASLt has one pointer type for both directions.
  auto* const bias = const_cast<std::byte*>(data_or_null(op.bias));
  const Epilogue epilogue = products_.enqueue(
      stream, plan_of(op),
      {op.weight.data(), op.x.data(), op.y.data(), bias, data_or_null(op.before)});
  return epilogue == Epilogue::kDone ? cudaSuccess : add_bias_and_activate(stream, op);
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const LinearBackwardInput& op) {
  auto* const before = const_cast<std::byte*>(data_or_null(op.before));
  const Epilogue epilogue = products_.enqueue(
      stream, plan_of(op),
      {.a = op.weight.data(), .b = op.dy.data(), .d = op.dx.data(), .before = before});
  if (epilogue == Epilogue::kDone) return cudaSuccess;
  return with_type(op.dx.dtype(), [&]<class T>(T) {
    return for_each(stream, op.dx.size(),
                    GeluBackwardElements<T>{as<T>(before), as<T>(op.dx.data())});
  });
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
  return epilogue == Epilogue::kDone ? cudaSuccess : sum_bias_gradient(stream, op, workspace_);
}

}  // namespace tandem::cuda
