// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and fused attention, which depend on cuDNN: on its headers where the module was
// built, and on its library where it runs.
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/kernels/convolution.h"
#include "common/kernels/operations.h"
#include "common/kernels/precision.h"
#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// A library's convolutions on one GPU. Used from one thread at a time, on streams of one GPU whose
// convolutions follow each other.
class ConvolutionLibrary : boost::noncopyable {
 public:
  virtual ~ConvolutionLibrary() = default;

  virtual void enqueue(Stream& stream, const ConvolutionForward& op) = 0;
  virtual void enqueue(Stream& stream, const ConvolutionBackwardInput& op) = 0;
  virtual void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) = 0;

  // The library of all convolutions so far: "cuDNN 9.19.0, channels first, tf32".
  [[nodiscard]] virtual std::string implementations() const = 0;
};

// Why there is none; empty where there is one.
[[nodiscard]] std::string lack_of_convolutions();

// "cuDNN 9.19.0"; empty where there is none.
[[nodiscard]] std::string convolution_library_version();

// A usage error where there is none. Starts cuDNN on the GPU.
[[nodiscard]] std::unique_ptr<ConvolutionLibrary> make_convolutions(CudaDevice& device,
                                                                    const ImageOptions& how);

// Attention in one kernel that writes no scores to memory, where a library has one for the GPU, the
// shape and the operands. Forward of a shape decides for backward too, and takes the memory of
// both. Used from one thread at a time, on streams of one GPU whose attention follows each other.
// Without a library, which overrides it, all are refused.
class FusedAttention : boost::noncopyable {
 public:
  explicit FusedAttention(std::string lack = "") : lack_(std::move(lack)) {}
  virtual ~FusedAttention() = default;

  // Queues it on `stream`, or returns why it cannot be had: words that live as long as this.
  [[nodiscard]] virtual std::string_view enqueue(Stream&, const AttentionForward&) { return lack_; }
  [[nodiscard]] virtual std::string_view enqueue(Stream&, const AttentionBackward&) {
    return lack_;
  }

  // The library of a queued shape: "cuDNN 9.19.0, fused".
  [[nodiscard]] virtual std::string implementation(const AttentionShape&) const { return ""; }

 private:
  const std::string lack_;
};

[[nodiscard]] std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& device);

}  // namespace tandem::cuda
