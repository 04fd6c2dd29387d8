// SPDX-License-Identifier: Apache-2.0
//
// A model that is given by its sizes and its compute alone: the content of a workload file, which
// docs/workload-files.md documents. replay.h runs the workload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/dtype.h"
#include "common/kernels/listed_kernel.h"
#include "common/model/model.h"
#include "common/tensor/shape.h"

namespace tandem {

// What grows evenly with the samples of a batch.
struct SizeByBatch {
  double fixed = 0;
  double per_sample = 0;
};

// The whole number next to the size of so many samples, 0 or more.
[[nodiscard]] std::int64_t size_at(const SizeByBatch& size, std::int64_t batch);

// A kernel of a batch of any size.
struct WorkloadKernel {
  KernelKind kind{};
  NumberType type{};
  KernelLayout layout{};
  std::array<SizeByBatch, kMostKernelSizes> sizes{};
  std::int64_t count = 1;
};

[[nodiscard]] ListedKernel kernel_at(const WorkloadKernel& kernel, std::int64_t batch);

// The forward or backward pass of a layer.
struct LayerPass {
  std::int64_t operations = 0;  // dispatched per step, whatever the batch
  double flops = 0;             // per sample
  std::vector<WorkloadKernel> kernels{};
};

struct WorkloadLayer {
  std::string name;
  LayerPass forward{};
  LayerPass backward{};
  std::int64_t activation_bytes = 0;  // kept from forward to backward, per sample
  std::int64_t calls = 0;             // calls that forward dispatches from Python
  std::int64_t operation_calls = 0;   // among these, those outside a module's own call
};

struct WorkloadTensor {
  std::string name;
  Shape shape;
  std::size_t layer = 0;       // layer whose backward makes the tensor's gradient
  std::size_t registered = 0;  // the tensor's place among the module's parameters
};

struct WorkloadBuffer {
  std::string name;
  Shape shape;
};

struct Workload {
  std::string name;
  std::string origin{};  // origin of the workload, for people
  int modules = 1;
  std::int64_t input_width = 0;
  std::int64_t input_classes = 0;  // 0: continuous
  std::int64_t output_width = 0;
  // For listed kernels. fp16 stands as bf16, which is as large and has operations.
  DType output_type = DType::kFloat32;
  Objective objective{};
  // Bytes that a step holds at most beside parameters, their gradients and what the optimizer
  // keeps.
  std::optional<SizeByBatch> held{};
  std::vector<WorkloadTensor> tensors{};  // in the order in which their gradients become ready
  std::vector<WorkloadBuffer> buffers{};
  std::vector<WorkloadLayer> layers{};  // in the order of forward; backward is the reverse
};

// The newest version of the format that is read.
inline constexpr int kWorkloadVersion = 2;

// A workload from the text of its file (docs/workload-files.md). Any value that is missing,
// unknown, of another type, out of range or at odds with the rest is a usage error of one line,
// which begins with `source` and names the place in the document.
[[nodiscard]] Workload parse_workload(std::string_view text, const std::string& source);

}  // namespace tandem
