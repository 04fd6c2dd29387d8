// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/replay_activations.h"
#include "common/model/workload.h"

namespace tandem {

// A workload as a model: its tensors, buffers, activations and ends are real, its layers are matrix
// products on scratch memory (replay_plan.h). The function is simple, so that every strategy's
// numbers can be compared with single's: with fixed patterns p of 1, 2 and 3,
//   output[b] = (p . input[b]) * z * p, where z = sum over tensors of p^T tensor p,
// scaled by powers of two. Each parameter is read in forward, and each gradient, the scalar dz
// times a pattern, is written in full by a separate operation, after the products of the
// gradient's layer. Weights start uniform in [-1, 1).
class Replay final : public Model {
 public:
  explicit Replay(Workload workload);

  [[nodiscard]] std::string name() const override { return workload_.name; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] const ParameterLayout& buffers() const override { return buffers_; }
  [[nodiscard]] int module_count() const override { return workload_.modules; }
  [[nodiscard]] std::int64_t input_width() const override { return workload_.input_width; }
  [[nodiscard]] std::int64_t output_width() const override { return workload_.output_width; }
  [[nodiscard]] std::int64_t input_classes() const override { return workload_.input_classes; }
  [[nodiscard]] Objective objective() const override { return workload_.objective; }

  // FLOPs as the file says; 0 where the file has times and no FLOPs.
  [[nodiscard]] double flops_per_sample() const override;

  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(Device& device, std::int64_t batch,
                                                              Precision precision) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

 private:
  // The tensors of a layer, by segment, in the order in which their gradients become ready.
  using Segments = std::vector<std::size_t>;

  void begin_forward(Executor on, Span<const float> input, ReplayActivations& kept) const;
  void end_forward(Executor on, ReplayActivations& kept) const;
  void begin_backward(Executor on, ReplayActivations& kept) const;
  [[nodiscard]] ReplaySizes sizes(std::int64_t batch) const;

  const Workload workload_;
  ParameterLayout layout_;
  ParameterLayout buffers_;
  std::vector<Segments> segments_;    // segments by layer
  std::vector<FoldedTensor> folded_;  // tensors by segment
  std::int64_t folded_rows_ = 0;      // rows of all tensors
};

}  // namespace tandem
