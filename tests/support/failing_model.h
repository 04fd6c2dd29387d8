// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "common/model/linear_stack.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::test {

// A small MLP one of whose forward passes fails: on one device, by the work that it queues or in
// the call itself.
class FailingModel final : public Model {
 public:
  enum class Where { kQueuedWork, kCall };

  FailingModel(int device, int forward, Where where)
      : device_(device), forward_(forward), where_(where) {}

  [[nodiscard]] static std::string message(int device) {
    return fmt::format("planted on device {}", device);
  }

  [[nodiscard]] std::string name() const override { return "failing"; }
  [[nodiscard]] const ParameterLayout& layout() const override { return mlp_.layout(); }
  [[nodiscard]] int module_count() const override { return mlp_.module_count(); }
  [[nodiscard]] std::int64_t input_width() const override { return mlp_.input_width(); }
  [[nodiscard]] std::int64_t output_width() const override { return mlp_.output_width(); }
  [[nodiscard]] double flops_per_sample() const override { return mlp_.flops_per_sample(); }
  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override {
    mlp_.initialise(on, parameters, seed, distribution);
  }
  [[nodiscard]] std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision,
      OutputType output_type) const override {
    return mlp_.make_activations(device, batch, precision, output_type);
  }
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override {
    if (on.stream.device().index == device_ && ++forwards_ == forward_) plant(on.stream);
    mlp_.forward(on, parameters, state, input, activations);
  }
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override {
    mlp_.backward(on, parameters, input, activations, gradients, sink);
  }

 private:
  void plant(Stream& stream) const {
    const auto fails = [device = device_] { fail(ErrorKind::kFailure, "{}", message(device)); };
    if (where_ == Where::kCall) fails();
    host::host_stream(stream).enqueue({"a planted failure", {}, fails});
  }

  const Mlp mlp_{"inner", {8, 16, 16, 4}};
  const int device_;
  const int forward_;  // the first is 1
  const Where where_;
  mutable std::atomic<int> forwards_ = 0;  // on device_
};

}  // namespace tandem::test
