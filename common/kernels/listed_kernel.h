// SPDX-License-Identifier: Apache-2.0
//
// A kernel that is listed by what its time depends on, and stands for work on memory that is not
// there: only a simulated device runs it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/runtime/stream.h"

namespace tandem {

class Device;

enum class KernelKind {
  kProduct,
  kConvolution,
  kConvolutionInput,   // the gradient of the input
  kConvolutionWeight,  // the gradient of the weight
  kAttention,
  kAttentionBackward,
  kRecurrence,
  kRecurrenceBackward,
  kBatchNorm,
  kBatchNormBackward,
  kNativeBatchNorm,  // torch's own kernels in place of cuDNN's
  kNativeBatchNormBackward,
  kLayerNorm,
  kLayerNormBackward,
  kSoftmax,
  kSoftmaxBackward,
  kPooling,
  kPoolingBackward,
  kReduction,
  kGather,
  kScatter,
  kCopy,
  kConcatenation,
  kFill,
  kPointwise,
  kUpdate,
};

// What is multiplied and moved: tf32 is fp32 in memory.
enum class NumberType { kFp32, kTf32, kFp16, kBf16, kFp64, kOther };

// How an image's channels lie, whether neighbours are read or written, or who computes attention.
enum class KernelLayout { kNone, kFirst, kLast, kStrided, kFlash, kEfficient, kCudnn, kMath };

// The names in workload files, by number.
inline constexpr std::array<std::string_view, 26> kKernelKinds{
    "product",           "convolution",
    "convolution_input", "convolution_weight",
    "attention",         "attention_backward",
    "recurrence",        "recurrence_backward",
    "batch_norm",        "batch_norm_backward",
    "native_batch_norm", "native_batch_norm_backward",
    "layer_norm",        "layer_norm_backward",
    "softmax",           "softmax_backward",
    "pooling",           "pooling_backward",
    "reduction",         "gather",
    "scatter",           "copy",
    "concatenation",     "fill",
    "pointwise",         "update"};
inline constexpr std::array<std::string_view, 6> kNumberTypes{"fp32", "tf32", "fp16",
                                                              "bf16", "fp64", "other"};
inline constexpr std::array<std::string_view, 8> kKernelLayouts{
    "-", "first", "last", "strided", "flash", "efficient", "cudnn", "math"};

inline constexpr std::size_t kMostKernelSizes = 8;
inline constexpr std::array<std::string_view, 5> kProductSizes{"count", "rows", "columns", "depth",
                                                               "bytes"};
// Positions are the output's, pixels the input's, and both channels and features all groups'.
inline constexpr std::array<std::string_view, 8> kConvolutionSizes{
    "batch", "channels", "features", "positions", "pixels", "window", "groups", "bytes"};
inline constexpr std::array<std::string_view, 5> kAttentionSizes{"count", "rows", "columns",
                                                                 "width", "bytes"};
inline constexpr std::array<std::string_view, 3> kRecurrenceSizes{"flops", "steps", "bytes"};
inline constexpr std::array<std::string_view, 2> kOtherSizes{"bytes", "tensors"};

// The sizes of a kernel of this kind, in order.
[[nodiscard]] constexpr std::span<const std::string_view> sizes_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::kProduct:
      return kProductSizes;
    case KernelKind::kConvolution:
    case KernelKind::kConvolutionInput:
    case KernelKind::kConvolutionWeight:
      return kConvolutionSizes;
    case KernelKind::kAttention:
    case KernelKind::kAttentionBackward:
      return kAttentionSizes;
    case KernelKind::kRecurrence:
    case KernelKind::kRecurrenceBackward:
      return kRecurrenceSizes;
    default:
      return kOtherSizes;
  }
}

struct ListedKernel {
  KernelKind kind{};
  NumberType type{};
  KernelLayout layout{};
  std::array<std::int64_t, kMostKernelSizes> sizes{};  // in the order of sizes_of()
  std::int64_t count = 1;                              // one after another, all alike
};

// Whether the device takes kernels that are listed: a simulated one that is described.
[[nodiscard]] bool takes_listed_kernels(Device& device);

// Enqueues the kernel on a stream of such a device, as often as it counts.
void enqueue_listed(Stream& stream, const ListedKernel& kernel);

}  // namespace tandem
