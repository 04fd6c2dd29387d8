// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/model/parameter_layout.h"
#include "common/runtime/platform.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

// --check-numerics: looks for NaN and infinity in every gradient of every step, as this device made
// the gradient and before the gradient is combined with other ranks' gradients, so that the rank at
// fault is known. Costs a copy of each gradient to the host and a wait at the end of the step.
class NumericsCheck final : public StepObserver {
 public:
  // `rank`: this process's rank; none where each device is a rank that is a thread. The platform
  // and the layout outlive this check.
  NumericsCheck(Platform& platform, const ParameterLayout& layout, std::optional<int> rank);
  ~NumericsCheck() override;

  void phase_begins(Device&, Stream&, Phase) override {}
  // Throws a failure that names rank, step and the first parameter, in backward's order, that holds
  // a NaN or an infinity.
  void step_ends(Device& device, Stream& stream) override;
  void gradient_ready(Device& device, Stream& stream, int segment, Span<float> gradient) override;

 private:
  struct Side;  // the copies and readiness of one device's gradients
  void look(Side& side, Stream& stream, const Device& device);
  [[noreturn]] void report(const Side& side, const Device& device, int segment,
                           std::int64_t element) const;

  Platform& platform_;
  const ParameterLayout& layout_;
  const std::optional<int> rank_;
  std::vector<std::unique_ptr<Side>> sides_;  // by device
};

}  // namespace tandem::bench
