// SPDX-License-Identifier: Apache-2.0
//
// The choice of a program's back end, and its reason. The findings about the machine (facts) and
// the conclusion (the decision) are apart, so that every rule is tested without a GPU.
//
// A program does: decision = choose_backend(choice, options); print decision.why; then
// open_platform(decision.backend, options). make_platform (platform.h) does both without the
// printed line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/runtime/cuda_module.h"
#include "common/runtime/platform.h"

namespace tandem {

struct BackendFacts {
  std::string gpu;         // sign of an NVIDIA GPU, such as "/dev/nvidia0"; empty: none
  std::string gpu_denied;  // a device file that this user may not open; empty: none
  CudaProbe cuda;          // probed only where the choice may fall on CUDA
};

struct BackendDecision {
  Backend backend = Backend::kHost;
  std::string why;  // one line for people: "backend host: no NVIDIA GPU in this machine"
  std::vector<std::string> gpus{};  // CUDA: Device::hardware() of each GPU to be opened
};

// Decides by the rules. Throws a usage error with the reason and the way around where the choice
// cannot be met. Never falls back: kAuto takes host only where no GPU is present.
[[nodiscard]] BackendDecision decide_backend(BackendChoice choice, const BackendFacts& facts);

// The part of the facts that lies in the file system below `root`.
[[nodiscard]] BackendFacts find_gpu(const std::filesystem::path& root);

// All facts that `choice` needs; loads the CUDA module only where these include CUDA.
[[nodiscard]] BackendFacts probe_backends(BackendChoice choice, const PlatformOptions& options);

// decide_backend on this machine's facts.
[[nodiscard]] BackendDecision choose_backend(BackendChoice choice, const PlatformOptions& options);

[[nodiscard]] std::unique_ptr<Platform> open_platform(Backend backend,
                                                      const PlatformOptions& options);

}  // namespace tandem
