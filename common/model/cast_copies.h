// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/owned_tensors.h"
#include "common/model/parameter_copies.h"

namespace tandem {

// The copies between a model's fp32 ends and layers that compute in another type, on one device:
// narrow copies of the parameters and the input, made by each forward, and fp32 copies of the
// output and of the output's gradient. Owns their memory; used with one stream at a time.
class CastCopies {
 public:
  // `inputs` and `outputs` are numbers of elements of a batch.
  CastCopies(Device& device, DType type, const ParameterLayout& layout, std::int64_t inputs,
             std::int64_t outputs);

  // Each call enqueues casts: cast_in of the parameters and the input to copies, cast_out of
  // `output` to fp32, cast_gradient of output_gradient() to `gradient`, where backward starts.
  void cast_in(Executor on, const ConstTensorList& parameters, Span<const float> input);
  void cast_out(Executor on, ConstAnySpan output);
  void cast_gradient(Executor on, AnySpan gradient);

  [[nodiscard]] ConstAnySpan parameter(int segment) const { return parameters_.of(segment); }
  [[nodiscard]] ConstAnySpan input() const { return input_; }
  [[nodiscard]] Span<float> output() const { return output_; }
  [[nodiscard]] Span<float> output_gradient() const { return output_gradient_; }

 private:
  ParameterCopies parameters_;
  OwnedTensors tensors_;
  const AnySpan input_;
  const Span<float> output_;
  const Span<float> output_gradient_;
};

}  // namespace tandem
