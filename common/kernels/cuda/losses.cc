// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/losses.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

cudaError_t CudaOperations::launch(cudaStream_t stream, const MseLoss& op) {
  const std::int64_t count = op.prediction.size();
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    return sum_rows(stream, rows_of(count),
                    MseSum<T>{.prediction = as<T>(op.prediction.data()),
                              .target = op.target.data(),
                              .gradient = as<T>(data_or_null(op.gradient)),
                              .loss = op.loss.data(),
                              .count = count},
                    partials_.data());
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const MseLossBackward& op) {
  const std::int64_t count = op.prediction.size();
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    return for_each(stream, count,
                    MseBackwardElements<T>{.prediction = as<T>(op.prediction.data()),
                                           .target = op.target.data(),
                                           .loss_gradient = op.loss_gradient.data(),
                                           .gradient = as<T>(op.gradient.data()),
                                           .two_over_count = 2.0F / static_cast<float>(count)});
  });
}

namespace {

template <class T, class Op>
CrossEntropyRows<T> cross_entropy_rows(const Op& op) {
  constexpr int kWidth = kWidestPack<T>;
  CrossEntropyRows<T> rows{.prediction = as<T>(op.prediction.data()),
                           .target = op.target.data(),
                           .gradient = as<T>(data_or_null(op.gradient)),
                           .count = op.target.size(),
                           .classes = op.classes,
                           .padding = op.padding};
  rows.packed =
      (op.classes + op.padding) % kWidth == 0 && are_packed(kWidth, rows.prediction, rows.gradient);
  return rows;
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLoss& op) {
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    auto rows = cross_entropy_rows<T>(op);
    rows.loss = op.loss.data();
    return sum_rows(stream, rows.count, rows, partials_.data());
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLossBackward& op) {
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    auto rows = cross_entropy_rows<T>(op);
    rows.loss_gradient = op.loss_gradient.data();
    return for_each_row(stream, rows.count, rows);
  });
}

}  // namespace tandem::cuda
