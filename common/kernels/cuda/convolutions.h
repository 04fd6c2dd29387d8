// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/kernels/cuda/cudnn_graph.h"
#include "common/kernels/cuda/cudnn_session.h"
#include "common/kernels/cuda/library_operations.h"
#include "common/kernels/cuda/queue.h"

namespace tandem::cuda {

// Convolutions in cuDNN's terms.

// Ids in the graph: two of the three are read, and the third is written.
inline constexpr std::int64_t kImage = 1;   // x or dx
inline constexpr std::int64_t kFilter = 2;  // weight or dweight
inline constexpr std::int64_t kResult = 3;  // y or dy

// By what they write.
enum class ConvolutionPass : std::int64_t {
  kForward = kResult,
  kBackwardInput = kImage,
  kBackwardWeight = kFilter
};

// The key of a plan. Alignments are cudnn_alignment()'s.
struct ConvolutionKey {
  ConvolutionPass pass = ConvolutionPass::kForward;
  ConvolutionShape shape;
  DType type = DType::kFloat32;    // of what is read
  DType result = DType::kFloat32;  // of what is written
  std::int64_t image_alignment = 16;
  std::int64_t filter_alignment = 16;
  std::int64_t result_alignment = 16;

  auto operator<=>(const ConvolutionKey&) const = default;
};

// The one operation, with sums in fp32. Throws CudnnError.
[[nodiscard]] CudnnGraph convolution_graph(const CudnnApi& api, const ConvolutionKey& key,
                                           const ImageOptions& how);

// Changes of numbers that an engine may not make, so that a convolution is what its precision and
// `how` say, sums of products with fp32 accumulation, and the same bits every time: round its
// operands further, sum in less than fp32 or in changing order, or go by way of transforms (FFT,
// Winograd), which lose digits. On fp32 operands tensor cores mean tf32, which is refused where
// factors are to stay fp32.
[[nodiscard]] std::vector<cudnnBackendNumericalNote_t> refused_notes(DType type,
                                                                     const ImageOptions& how);

// "convolution_forward of 4 x 56 x 56 x 64 -> 256, kernel 1, stride 1, in bf16".
[[nodiscard]] std::string to_string(const ConvolutionKey& key);

// cuDNN's convolutions on one GPU. A plan is made when a shape and the alignments of its operands
// are first met, forward's together with those that backward will want, and
// their workspace taken: while backward runs, collectives of gradients may be in flight, which
// neither may wait for. After that a convolution is one call.
//
// The gradient of bf16 weights is written in bf16 and then converted, since cuDNN has no engine
// that reads bf16 and writes fp32 there; torch.autocast does the same. They share the
// workspace.
class Convolutions final : public ConvolutionLibrary {
 public:
  Convolutions(CudaDevice& device, const ImageOptions& how, const LoadedCudnn& cudnn);

  // A failure where cuDNN has no engine that does what refused_notes() asks.
  void enqueue(Stream& stream, const ConvolutionForward& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardInput& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) override;

  [[nodiscard]] std::string implementations() const override;

 private:
  [[nodiscard]] PlanChoice choose(const ConvolutionKey& key);
  const CudnnPlan& find_or_make(const ConvolutionKey& key);
  void prepare_backward(Stream& stream, const ConvolutionKey& forward);
  // The memory for a plan's workspace and, behind it, a narrow gradient of weights.
  [[nodiscard]] ByteSpan memory_for(Stream& stream, const ConvolutionKey& key,
                                    const CudnnPlan& plan);
  // `op` says what is accessed. Without a filter's address the gradient of weights is narrow, and
  // is converted to `dweight`.
  template <class Op>
  void start(Stream& stream, const Op& op, ConvolutionPass pass, ConstAnySpan image,
             ConstAnySpan filter, ConstAnySpan result, Span<float> dweight = {});

  Gpu& gpu_;
  const ImageOptions how_;
  const LoadedCudnn& cudnn_;
  GrowingMemory memory_;
  CudnnSession session_;
  std::map<ConvolutionKey, CudnnPlan> plans_;
};

}  // namespace tandem::cuda
