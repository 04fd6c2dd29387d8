// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/base/dtype.h"
#include "common/base/half.h"

namespace tandem::cuda {

// Queues `function`, one of TANDEM_EACH_ELEMENTWISE (functions.h), for elements 0 .. count - 1 on
// the current GPU; in packs where function.packed(). Returns what the launch returned.
template <class Function>
[[nodiscard]] cudaError_t for_each(cudaStream_t stream, std::int64_t count,
                                   const Function& function);

// Queues function.row(team, r), a block each, for rows 0 .. rows - 1 on the current GPU; `function`
// is one of TANDEM_EACH_ROWWISE (functions.h). Where it is Packable, function.row<width>(team, r),
// in packs where function.packed() and there can be a thread for each pack. Returns what the launch
// returned.
template <class Function>
[[nodiscard]] cudaError_t for_each_row(cudaStream_t stream, std::int64_t rows,
                                       const Function& function);

// Queues the sum of sum.row(team, r) over all rows and what becomes of it, sum.finish(total); none
// is a sum of 0. `sum` is one of TANDEM_EACH_ROW_SUM (functions.h). In double, in an order that
// depends on the number of rows alone. `partials`: scratch memory for kMostReductionBlocks
// (device_code.h) numbers.
template <class Sum>
[[nodiscard]] cudaError_t sum_rows(cudaStream_t stream, std::int64_t rows, const Sum& sum,
                                   double* partials);

// Queues sums.sum<width, last>(team, part, pack) for all stretches and packs of channels, by
// whether these are last; `sums` is one of TANDEM_EACH_STRETCH_SUM (functions.h).
template <class Sums>
[[nodiscard]] cudaError_t sum_stretches(cudaStream_t stream, const Sums& sums);

// From operands whose type is known at run time to kernels made for fp32 and bf16: calls `body`
// with a value of the element type, fp32 or bf16.
template <class Body>
auto with_type(DType type, const Body& body) {
  return type == DType::kBFloat16 ? body(BFloat16{}) : body(float{});
}

template <class T>
[[nodiscard]] T* as(std::byte* data) {
  return reinterpret_cast<T*>(data);
}
template <class T>
[[nodiscard]] const T* as(const std::byte* data) {
  return reinterpret_cast<const T*>(data);
}

}  // namespace tandem::cuda
