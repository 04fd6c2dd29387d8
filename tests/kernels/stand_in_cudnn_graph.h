// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for cuDNN computes of graphs without convolutions: matrix products, pointwise
// operations, reductions over the last dimension and reshapes, one after the other, each result
// rounded to its tensor's type.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "tests/kernels/stand_in_cudnn_contents.h"

namespace tandem::test::stand_in {

using Quad = std::array<std::int64_t, 4>;

// In memory, between operations, or a number; elements by their distance from the first.
struct GraphTensor {
  std::int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  Quad sizes{};
  Quad strides{};
  bool is_virtual = false;
  bool by_value = false;
  std::byte* data = nullptr;
  std::shared_ptr<std::vector<double>> own{};  // of a virtual tensor and a number

  // At an index, where a dimension of size 1 stands for any.
  [[nodiscard]] std::int64_t at(const Quad& index) const;
  [[nodiscard]] double get(std::int64_t offset) const;
  void put(std::int64_t offset, double value) const;
};

struct GraphStep {
  cudnnBackendDescriptorType_t type;
  int how = 0;            // the mode of a pointwise operation, the operator of a reduction
  std::int64_t axis = 0;  // of indices
  std::vector<GraphTensor> from{};
  GraphTensor to{};

  void run() const;
};

// Whether a finalised graph is of such operations.
[[nodiscard]] bool is_graph_of_steps(const Contents& graph);
[[nodiscard]] std::int64_t samples_in(const Contents& graph);

// Whether such an operation has all that it needs.
[[nodiscard]] bool is_step(cudnnBackendDescriptorType_t type);
[[nodiscard]] bool is_sound_step(const Contents& operation);

// The graph's operations on operands that lie where `address` says; none where it does not say.
// Numbers are read now.
[[nodiscard]] std::optional<std::vector<GraphStep>> steps_of(
    const Contents& graph, const std::function<std::byte*(const Contents& tensor)>& address);

}  // namespace tandem::test::stand_in
