// SPDX-License-Identifier: Apache-2.0
//
// Whether there are convolutions, which depends on cuDNN: on its headers where the module was
// built, and on its library where it runs.
#pragma once

#include <memory>
#include <string>

#include "common/kernels/convolution.h"
#include "common/kernels/precision.h"
#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// A library's convolutions on one GPU. Used from one thread at a time, on streams of one GPU whose
// convolutions follow each other.
class ConvolutionLibrary {
 public:
  ConvolutionLibrary() = default;
  ConvolutionLibrary(const ConvolutionLibrary&) = delete;
  ConvolutionLibrary& operator=(const ConvolutionLibrary&) = delete;
  virtual ~ConvolutionLibrary() = default;

  virtual void enqueue(Stream& stream, const ConvolutionForward& op) = 0;
  virtual void enqueue(Stream& stream, const ConvolutionBackwardInput& op) = 0;
  virtual void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) = 0;

  // What convolutions were computed by so far: "cuDNN 9.19.0, channels first, tf32".
  [[nodiscard]] virtual std::string implementations() const = 0;
};

// Why there is none; empty where there is one.
[[nodiscard]] std::string lack_of_convolutions();

// "cuDNN 9.19.0"; empty where there is none.
[[nodiscard]] std::string convolution_library_version();

// A usage error where there is none. Starts cuDNN on the GPU.
[[nodiscard]] std::unique_ptr<ConvolutionLibrary> make_convolutions(CudaDevice& device,
                                                                    const ImageOptions& how);

}  // namespace tandem::cuda
