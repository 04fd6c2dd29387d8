// SPDX-License-Identifier: Apache-2.0
//
// Whether there are operations on images, which depends on cuDNN: on its headers where the module
// was built, and on its library where it runs.
#pragma once

#include <memory>
#include <string>

#include "common/kernels/image_operations.h"
#include "common/kernels/precision.h"
#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// Why there are none; empty where there are.
[[nodiscard]] std::string lack_of_cuda_images();

// "cuDNN 9.19.0"; empty where there is none.
[[nodiscard]] std::string cuda_image_library_version();

// Null where there are none. Starts cuDNN on the GPU.
[[nodiscard]] std::unique_ptr<ImageOperations> make_cuda_images(CudaDevice& device,
                                                                Precision precision);

}  // namespace tandem::cuda
