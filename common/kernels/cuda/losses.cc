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
ClassRows<T> class_rows(const Op& op) {
  constexpr int kWidth = kWidestPack<T>;
  ClassRows<T> rows{.prediction = as<T>(op.prediction.data()),
                    .target = op.target.data(),
                    .gradient = as<T>(data_or_null(op.gradient)),
                    .classes = op.classes,
                    .padding = op.padding,
                    .packed = (op.classes + op.padding) % kWidth == 0};
  rows.packed = rows.packed && are_packed(kWidth, rows.prediction, rows.gradient);
  return rows;
}

}  // namespace

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLoss& op) {
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    return sum_rows(stream, op.target.size(),
                    CrossEntropySum<T>{class_rows<T>(op), op.loss.data(), op.target.size()},
                    partials_.data());
  });
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const CrossEntropyLossBackward& op) {
  return with_type(op.prediction.dtype(), [&]<class T>(T) {
    return for_each_row(
        stream, op.target.size(),
        CrossEntropyBackwardRows<T>{class_rows<T>(op), op.loss_gradient.data(), op.target.size()});
  });
}

}  // namespace tandem::cuda
