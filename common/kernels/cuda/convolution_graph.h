// SPDX-License-Identifier: Apache-2.0
//
// Convolutions in cuDNN's terms.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "common/kernels/cuda/cudnn_graph.h"
#include "common/kernels/image_operations.h"
#include "common/kernels/precision.h"

namespace tandem::cuda {

enum class ConvolutionPass { kForward, kBackwardInput, kBackwardWeight };

// Two of the three are read and the third is written, whichever the pass says. Their ids in the
// graph.
inline constexpr std::int64_t kImage = 1;   // x or dx
inline constexpr std::int64_t kFilter = 2;  // weight or dweight
inline constexpr std::int64_t kResult = 3;  // y or dy

// What a plan is made for. Alignments are cudnn_alignment()'s.
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

// The one operation, on channels-last tensors, with sums in fp32. Throws CudnnError.
[[nodiscard]] CudnnGraph convolution_graph(const CudnnApi& api, cudnnHandle_t handle,
                                           const ConvolutionKey& key);

// What an engine may not do to numbers, so that a convolution is what its precision says, sums of
// products with fp32 accumulation, and the same bits every time: round its operands further, sum
// in less than fp32 or in changing order, or go by way of transforms (FFT, Winograd), which lose
// digits. On fp32 operands tensor cores mean tf32, and are refused unless that was asked for.
[[nodiscard]] std::vector<cudnnBackendNumericalNote_t> refused_notes(DType type,
                                                                     Precision precision);

// "convolution_forward of 4 x 56 x 56 x 64 -> 256, kernel 1, stride 1, in bf16".
[[nodiscard]] std::string to_string(const ConvolutionKey& key);

}  // namespace tandem::cuda
