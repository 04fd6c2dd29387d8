// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/losses.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

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

}  // namespace tandem::cuda
