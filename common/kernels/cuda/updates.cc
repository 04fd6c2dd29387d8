// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/updates.cuh"

#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

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

}  // namespace tandem::cuda
