// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/embedding.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

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
