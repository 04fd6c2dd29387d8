// SPDX-License-Identifier: Apache-2.0
//
// What projections onto described hardware were found to err by on steps that others published, and
// what an interpreter costs there (catalogue/published.json, which
// research/published/project_errors writes). Errors are of the step, given the published step of
// one device.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/units.h"

namespace tandem {

struct PublishedErrors {
  int systems = 0;
  int steps = 0;
  double mean = 0;  // of |projected / published - 1|
  double most = 0;  // the largest
  // On logs: the next error stays below it with 90 % probability; of fewer than nine steps it is
  // the largest error.
  double half_width = 0;
  int most_devices = 0;  // of a compared step
};

// The errors of a strategy, "dp", "ddp", "ddp-nodes" (on several), "listed" or "listed-fp32" (a
// step of one device whose kernels are priced one by one, without tensor cores), on systems with
// this GPU, named as descriptions name it; the memory's size does not count. Nothing where no such
// system was compared.
[[nodiscard]] std::optional<PublishedErrors> errors_on_systems_with(std::string_view strategy,
                                                                    std::string_view gpu);

// The errors of a strategy on all compared systems, where the interpreter's factor of a prediction
// was that of systems with other GPUs; of listed steps those on GPUs that no constant was fitted
// to.
[[nodiscard]] PublishedErrors errors_elsewhere(std::string_view strategy);

// The GPU's name without its memory's size: "A100 SXM4" of "A100 SXM4 80GB".
[[nodiscard]] std::string_view kind_of_gpu(std::string_view gpu);

// What PyTorch's work on the host costs on a system with the GPU.
struct InterpreterCosts {
  std::string text{};       // as --dispatch-cost takes it, the factor included
  double factor = 0;        // on the costs of pretended devices
  bool is_of_like = false;  // whether the factor is of a system with this GPU
};
[[nodiscard]] InterpreterCosts interpreter_costs(std::string_view gpu);

// The source of the factor, in words.
[[nodiscard]] std::string_view origin_of(const InterpreterCosts& costs);

}  // namespace tandem
