// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/linear_stack.h"
#include "common/model/model.h"

namespace tandem {

// All models that have a name of their own; `tandem list models` prints them.
[[nodiscard]] std::vector<std::string> model_names();

// One of these models; mlp:LxW (L layers of W x W, such as mlp:4x1024); or a GPT-2 of shorter
// samples (gpt2.h, such as gpt2-124m:64). Any other name is a usage error that lists the
// models.
[[nodiscard]] std::unique_ptr<Model> make_model(const std::string& name);

// The small models that users of DataParallel trip over.

// torch's Linear(10, 5).
[[nodiscard]] std::unique_ptr<Model> make_linear();

// Linear(10, 20) on each of a sample's 40 positions, like a layer on a padded sequence.
[[nodiscard]] std::unique_ptr<Model> make_padded();

// A parameter of the model's own, 100 in and 50 out, that is multiplied with no layer around it,
// then Linear(50, 50). The parameter is stored (out, in), as all weights are here.
[[nodiscard]] std::unique_ptr<Model> make_custom();

// A linear layer whose forward counts its calls twice: in a buffer of one element, in place, and in
// the plain attribute `calls`. The model shows which of the two counts DataParallel keeps: writes
// to the buffer reach the root's module where the root's replica shares the buffer's memory, the
// attribute is lost.
class Counter final : public LinearStack {
 public:
  Counter();

  [[nodiscard]] const ParameterLayout& buffers() const override { return buffers_; }
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;

 private:
  ParameterLayout buffers_;
};

}  // namespace tandem
