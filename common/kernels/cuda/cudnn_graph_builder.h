// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/cuda/cudnn_graph.h"

namespace tandem::cuda {

// Describes graphs of many small operations on tensors of four dimensions: each call adds one and
// gives its result, a virtual tensor whose elements are fp32 and follow each other. Throws
// CudnnError.
class CudnnGraphBuilder {
 public:
  using Sizes = std::vector<std::int64_t>;
  using Tensor = const CudnnDescriptor&;

  // Adds to `graph`, which like `api` outlives this.
  CudnnGraphBuilder(const CudnnApi& api, CudnnGraph& graph) : api_(api), graph_(graph) {}

  // In memory, or a number by value.
  Tensor operand(std::int64_t id, cudnnDataType_t type, Sizes sizes, Sizes strides);
  Tensor operand(std::int64_t id, cudnnDataType_t type, const Sizes& sizes);
  Tensor number(std::int64_t id);

  // Virtual, of another type or with other strides than results have.
  Tensor between(cudnnDataType_t type, Sizes sizes, Sizes strides);
  Tensor between(cudnnDataType_t type, const Sizes& sizes);

  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, const Sizes& sizes);
  Tensor pointwise(cudnnPointwiseMode_t mode, Tensor x, Tensor b, const Sizes& sizes);
  void pointwise_to(cudnnPointwiseMode_t mode, Tensor x, Tensor b, Tensor to);

  // x where the position in dimension 2 is no less than that in dimension 3, else `other`.
  Tensor lower_triangle(Tensor x, Tensor other, const Sizes& sizes);

  Tensor product(Tensor a, Tensor b, const Sizes& sizes);
  void product_to(Tensor a, Tensor b, Tensor to);

  // Over the last dimension.
  Tensor reduce(cudnnReduceTensorOp_t how, Tensor x, const Sizes& sizes);

  // The same elements, as a tensor of other sizes and strides.
  void reshape_to(Tensor x, Tensor to);

  [[nodiscard]] static Sizes dense(const Sizes& sizes);

 private:
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    std::int64_t axis = -1;  // of indices
    const CudnnDescriptor* b = nullptr;
    const CudnnDescriptor* t = nullptr;
  };
  void add(const Pointwise& what, Tensor x, Tensor to);

  const CudnnApi& api_;
  CudnnGraph& graph_;
  std::int64_t next_id_ = 100;  // of virtual tensors
};

}  // namespace tandem::cuda
