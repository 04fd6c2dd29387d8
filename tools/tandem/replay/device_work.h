// SPDX-License-Identifier: Apache-2.0
//
// What the calls of a log take on a described GPU, by the roofline of
// simulate/cost/operation_costs.h.
#pragma once

#include "common/base/units.h"
#include "simulate/catalogue/description.h"
#include "tools/tandem/replay/call_log.h"

namespace tandem::replay {

struct DeviceTime {
  Nanoseconds time{0};
  // Whether the call tells what it works on; else its size is guessed from its threads.
  bool is_told = true;
};

// A kernel that moves memory. Element-wise kernels of torch tell their elements, and by their names
// how many operands they have and of what type; their products are none. Kernels over lists of
// tensors (multi_tensor_apply) work on 65,536 elements a block at most, which is what counts. Any
// other kernel is taken to read four numbers of four bytes a thread and to write as many.
[[nodiscard]] DeviceTime time_of(const KernelLaunch& launch, const GpuDescription& gpu);

// A product of matrices, at the peak of its type. Throws a usage error for a type that the GPU has
// no figure for.
[[nodiscard]] DeviceTime time_of(const MatrixProduct& product, const GpuDescription& gpu);

// Convolutions, in fp32 at the peak of tf32 where there is one, as torch has them, and batch
// normalisations. Throws a usage error that names `function` where the call tells no shapes.
[[nodiscard]] DeviceTime time_of(const LibraryCall& call, std::string_view function,
                                 const GpuDescription& gpu);

}  // namespace tandem::replay
