// SPDX-License-Identifier: Apache-2.0
//
// The code that the models share: parameters as layers read them, gradients as backward makes them,
// and initial values. Each struct borrows for the length of a call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/model/model.h"
#include "common/model/parameter_layout.h"

namespace tandem {

// Narrow copies of a model's parameters on one device, made anew by each forward, for layers that
// compute in another type than fp32. Owns their memory; used with one stream at a time.
class ParameterCopies {
 public:
  // Copies only these segments, by index, in this order, or all where none is named; `zeros` more
  // elements, which stay 0, belong to the first one's copy.
  ParameterCopies(Device& device, DType type, const ParameterLayout& layout,
                  std::vector<int> segments = {}, std::int64_t zeros = 0);

  // Enqueues the casts, that of a batch's input among them, as one operation.
  void cast(Executor on, const ConstTensorList& parameters,
            const std::optional<Convert::Tensor>& input = std::nullopt);

  // A segment's copy; throws a logic error where the segment has none.
  [[nodiscard]] ConstAnySpan of(int segment) const;

 private:
  std::vector<int> segments_;
  std::unique_ptr<Buffer> memory_;
  std::vector<AnySpan> copies_;  // copies by segment; empty: no copy
};

// A model's parameters by segment, as its layers read them.
struct LayerParameters {
  const ConstTensorList& tensors;
  const ParameterCopies* copies;  // null where the layers compute on the parameters themselves

  [[nodiscard]] Span<const float> fp32(int segment) const {
    return tensors.at(static_cast<std::size_t>(segment));
  }

  // The factor in a layer's product: the parameter itself or its narrow copy; empty for an absent
  // bias.
  [[nodiscard]] ConstAnySpan factor(int segment) const {
    if (segment == LinearSegments::kNone) return {};
    return copies != nullptr ? copies->of(segment) : ConstAnySpan(fp32(segment));
  }
};

// The place of backward's gradients, and the sink that receives them.
struct GradientPlaces {
  const TensorList& tensors;
  GradientSink& sink;

  // The segment's gradient; empty for an absent bias.
  [[nodiscard]] Span<float> of(int segment) const {
    if (segment == LinearSegments::kNone) return {};
    return tensors.at(static_cast<std::size_t>(segment));
  }
};

// The operands of a linear layer's backward beside its parameters.
struct LinearOperands {
  LinearShape shape;
  ConstAnySpan x;
  ConstAnySpan dy;
  AnySpan dx;             // empty where the layer's input wants no gradient
  ConstAnySpan before{};  // as LinearBackwardInput has it
};

// Enqueues a linear layer's backward and announces the gradients as autograd does: the layer's node
// makes all of them, then hands them on, the bias first. Where layers compute on narrow copies, as
// under autocast, each gradient passes a cast of its own first, and the bias's comes behind the
// weight's.
void enqueue_linear_backward(const Executor& on, const LayerParameters& parameters,
                             const GradientPlaces& gradients, const LinearSegments& segments,
                             const LinearOperands& operands);

// Enqueues initial values by segment.
struct Initialiser {
  Executor on;
  const TensorList& parameters;
  const ParameterLayout& layout;
  std::uint64_t seed;
  Distribution distribution;

  // Fills with the segment's part of the sequence of `seed`, times `scale`.
  void random(int segment, float scale) const;
  void constant(int segment, float value) const;
};

}  // namespace tandem
