// SPDX-License-Identifier: Apache-2.0
//
// Whether a step fits into a GPU. docs/method/kernels.md#memory says where the figures are from.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/torch_twin.h"

namespace tandem::cli {

// What a GPU gives up beside the tensors' peak: a share of it for gaps between allocations, and
// bytes. research/published/fit_kernels reads both here, and holds them against steps that ran.
inline constexpr double kGaps = 1.06;      // times the peak
inline constexpr double kLibraries = 0.7;  // GiB, of CUDA, cuDNN and cuBLAS
inline constexpr double kCommunicator =
    0.216;  // GiB, of NCCL: 24 channels with 3 protocols' buffers

inline constexpr std::int64_t kAnySamples = std::numeric_limits<std::int64_t>::max();

// The peak of the tensors of a step on a device, by the samples there.
struct DevicePeak {
  double constant = 0;  // bytes
  double sample = 0;
  double beside = 0;        // GiB that no tensor has
  std::int64_t pieces = 1;  // micro-batches of the samples, of which it holds one

  [[nodiscard]] Bytes tensors(std::int64_t samples) const;
  // What the device needs for so many samples.
  [[nodiscard]] Bytes needed(std::int64_t samples) const;
  // As many as fit in whole pieces, 0 where none do; kAnySamples where the peak does not grow.
  [[nodiscard]] std::int64_t most_samples(Bytes memory) const;
};

// The devices that differ: of dp on several devices its device 0 and any other, else one.
using StepPeaks = std::vector<DevicePeak>;

// By torch's peaks, which the facts have.
[[nodiscard]] StepPeaks peaks_of_module(const ModuleFacts& facts, std::string_view strategy,
                                        int devices);

// By simulated steps with one and with two samples of each device.
[[nodiscard]] StepPeaks peaks_of_steps(const results::LaunchRecord& one,
                                       const results::LaunchRecord& two);

// As many samples of each device as fit on all of them.
[[nodiscard]] std::int64_t most_samples(const StepPeaks& peaks, Bytes memory);

// Why so many samples of a device do not fit; empty where they do.
[[nodiscard]] std::string why_not_fitting(const StepPeaks& peaks, std::int64_t samples, int devices,
                                          Bytes memory);

}  // namespace tandem::cli
