// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "common/model/cast_copies.h"
#include "common/model/linear_stack.h"

namespace tandem {

// The outputs of every layer, and two gradient buffers that take turns: once a layer's input
// gradient is made, its output gradient is free, as with torch's caching allocator. In bf16 all
// these tensors are bf16, with copies at the fp32 ends.
class StackActivations final : public Activations {
 public:
  StackActivations(Device& device, const std::vector<LinearLayer>& layers,
                   const ParameterLayout& layout, std::int64_t rows, Precision precision);

  [[nodiscard]] Span<float> output() override;
  [[nodiscard]] Span<float> output_gradient() override;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] AnySpan output_of(std::size_t layer) const;
  [[nodiscard]] AnySpan gradient_of(std::size_t layer) const;  // gradient of the layer's output

  // The copies at the ends; null where the layers compute on the parameters themselves.
  [[nodiscard]] CastCopies* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  [[nodiscard]] std::size_t last() const { return widths_.size() - 1; }

  const std::int64_t rows_;
  const DType type_;
  std::vector<std::int64_t> widths_;  // widths of the outputs
  std::vector<std::unique_ptr<Buffer>> outputs_;
  std::array<std::unique_ptr<Buffer>, 2> gradients_;
  std::optional<CastCopies> copies_;
};

}  // namespace tandem
