// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "common/kernels/cuda/convolution_graph.h"
#include "common/kernels/cuda/cudnn_session.h"
#include "common/kernels/cuda/growing_memory.h"

namespace tandem::cuda {

// cuDNN's convolutions on one GPU. A plan is made when a shape and the alignments of its operands
// are first met (convolution_graph.h), forward's together with those that backward will want, and
// their workspace taken: while backward runs, collectives of gradients may be in flight, which
// neither may wait for. After that a convolution is one call.
//
// The gradient of bf16 weights is written in bf16 and then converted, since cuDNN has no engine
// that reads bf16 and writes fp32 there; torch.autocast does the same. Used from one thread at a
// time, on streams of one GPU whose convolutions follow each other, as they share the workspace.
class Convolutions {
 public:
  Convolutions(CudaDevice& device, Precision precision, const CudnnApi& api);

  // A failure where cuDNN has no engine that does what refused_notes() asks.
  void enqueue(Stream& stream, const ConvolutionForward& op);
  void enqueue(Stream& stream, const ConvolutionBackwardInput& op);
  void enqueue(Stream& stream, const ConvolutionBackwardWeight& op);

  // Plans made so far: one per pass, shape, type and alignments.
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(plans_.size()); }

 private:
  // The operands of a convolution, two of them read.
  struct Addresses {
    const void* image;
    const void* filter;
    const void* result;
  };

  [[nodiscard]] PlanChoice choose(const ConvolutionKey& key);
  const CudnnPlan& find_or_make(const ConvolutionKey& key);
  void prepare_backward(const ConvolutionKey& forward);
  // The memory for a plan's workspace and, behind it, `more` bytes.
  [[nodiscard]] ByteSpan memory_for(const CudnnPlan& plan, Bytes more);
  void run(cudaStream_t stream, const ConvolutionKey& key, const CudnnPlan& plan,
           const Addresses& at, ByteSpan memory);

  Gpu& gpu_;
  const Precision precision_;
  GrowingMemory memory_;
  CudnnSession session_;
  std::map<ConvolutionKey, CudnnPlan> plans_;
};

}  // namespace tandem::cuda
