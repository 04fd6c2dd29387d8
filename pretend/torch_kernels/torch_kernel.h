// SPDX-License-Identifier: Apache-2.0
//
// Torch's kernels on small integers and bools, computed by the host at the launch: what programs
// decide by, and what torch itself does to sizes before it sends an object. Recognised by name, and
// only where all arguments are as torch 2.4 to 2.15 lays them out and all memory is the devices'.
#pragma once

#include <memory>
#include <string_view>

namespace tandem::pretend::torch_kernels {

class TorchKernel {
 public:
  virtual ~TorchKernel() = default;

  // False where the launch is not understood or too large. Then nothing is written, but for one
  // float that becomes 0.
  [[nodiscard]] virtual bool compute(void** arguments, unsigned grid_y) const = 0;
};

// Each is nullptr where the name is of no such kernel.
[[nodiscard]] std::unique_ptr<TorchKernel> elementwise(std::string_view name);
[[nodiscard]] std::unique_ptr<TorchKernel> reduction(std::string_view name);
[[nodiscard]] std::unique_ptr<TorchKernel> concatenation(std::string_view name);
[[nodiscard]] std::unique_ptr<TorchKernel> indexing(std::string_view name);

[[nodiscard]] inline std::unique_ptr<TorchKernel> recognise(std::string_view name) {
  for (auto* const family : {elementwise, reduction, concatenation, indexing}) {
    if (std::unique_ptr<TorchKernel> kernel = family(name)) return kernel;
  }
  return nullptr;
}

}  // namespace tandem::pretend::torch_kernels
