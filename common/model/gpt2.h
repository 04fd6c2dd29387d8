// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/gpt2_activations.h"
#include "common/model/model.h"

namespace tandem {

// GPT-2 with its language-model head, as torch modules of the usual names, in their order of
// registration:
//
// - transformer.wte, transformer.wpe: tokens (vocabulary, width), positions (positions, width)
// - transformer.h.I, a block: ln_1, attn.c_attn, attn.c_proj, ln_2, mlp.c_fc, mlp.c_proj
// - transformer.ln_f: the norm in front of the head. The head, lm_head, multiplies by
//   wte.weight, which is registered once.
//
// Weights of linear layers are (out, in), as in torch's Linear; all such layers but the head have
// biases. Rows of the position table beyond the sequence are parameters like others, with a
// gradient of 0.
//
// The input is ids of tokens, the targets are the following tokens' ids, `sequence` of each per
// sample; the loss is cross-entropy. There is no dropout, as in the equivalent module. In bf16,
// products, GELU and the activations kept for them are bf16, as under torch.autocast, and the
// norms' results are as the casts before the products leave them; the residual stream, statistics,
// tables and loss are fp32. Ids are never cast.
//
// Weights start uniform with GPT-2's standard deviation of 0.02, weights that add to the residual
// stream with 0.02 / sqrt(2 layers), gains as 1, biases as 0. With small integers each weight is
// -1, 0 or 1 times a scale of the same deviation.
class Gpt2 final : public Model {
 public:
  Gpt2(std::string name, const Gpt2Shape& shape);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }

  // The modules of a block: the block, two norms, attention with two layers, MLP with two and GELU.
  // The other modules: the root, transformer, both tables, the list of blocks, the last norm and
  // the head.
  [[nodiscard]] int module_count() const override;
  [[nodiscard]] std::int64_t input_width() const override { return shape_.sequence; }
  [[nodiscard]] std::int64_t output_width() const override;
  [[nodiscard]] std::int64_t input_classes() const override { return shape_.vocabulary; }
  [[nodiscard]] Objective objective() const override;

  // 3 (layers (2 * 12 width^2 T + 2 * 2 T^2 width) + 2 width vocabulary T) for T tokens: each
  // product costs once in forward and twice in backward, as every product's input wants a gradient.
  // Attention counts all pairs of tokens, though half of the pairs are masked.
  [[nodiscard]] double flops_per_sample() const override;
  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision,
      OutputType output_type) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

  [[nodiscard]] const Gpt2Shape& shape() const { return shape_; }

 private:
  const std::string name_;
  const Gpt2Shape shape_;
  ParameterLayout layout_;
};

// The names of gpt2-nano, which is for tests, and of the published sizes gpt2-124m, gpt2-355m,
// gpt2-774m and gpt2-1558m (GPT-2's small, medium, large and XL).
[[nodiscard]] std::vector<std::string> gpt2_names();

// The GPT-2 of one of these names, with samples as long as its position table; or NAME:T, with
// samples of T tokens. Throws a usage error where the position table does not allow T; null for any
// other name.
[[nodiscard]] std::unique_ptr<Model> make_gpt2(const std::string& name);

}  // namespace tandem
