// SPDX-License-Identifier: Apache-2.0
#include "bench/step/training_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tandem::bench {
namespace {

void add(Disagreement& worst, const TensorValues& reference, const TensorValues& other) {
  worst.element = std::max(worst.element, relative_difference(reference, other));
  worst.distance = std::max(worst.distance, relative_distance(reference, other));
  worst.projection = std::max(worst.projection, projection_error(reference, other));
}

// A thousand times the distance by which another order of summation moves an element.
constexpr float kMoreThanRounding = 1e-3F;

// The weights, with zeros where the gradient of any step is too small beside its tensor's largest
// element to have a certain sign.
TensorValues without_rounding(TensorValues weights, const std::vector<TensorValues>& gradients) {
  for (const TensorValues& of_step : gradients) {
    TANDEM_CHECK(of_step.size() == weights.size(), "{} and {} tensors", of_step.size(),
                 weights.size());
    for (std::size_t tensor = 0; tensor < weights.size(); ++tensor) {
      const std::vector<float>& gradient = of_step[tensor];
      TANDEM_CHECK(gradient.size() == weights[tensor].size(), "tensors of {} and {} elements",
                   gradient.size(), weights[tensor].size());
      float largest = 0;
      for (const float value : gradient) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (std::abs(gradient[i]) <= kMoreThanRounding * largest) weights[tensor][i] = 0;
      }
    }
  }
  return weights;
}

}  // namespace

Rounding rounding_of(Backend backend, const std::vector<Piece>& shards) {
  if (shards.size() == 1) return Rounding::kAlike;
  const bool are_equal = std::all_of(shards.begin(), shards.end(), [&](const Piece& shard) {
    return shard.count == shards.front().count;
  });
  const bool is_alike =
      backend == Backend::kHost && are_equal && std::has_single_bit(shards.size());
  return is_alike ? Rounding::kAlike : Rounding::kApart;
}

Steps steps_of(OptimizerKind optimizer) {
  return optimizer == OptimizerKind::kSgd ? Steps::kByGradient : Steps::kNormalised;
}

Disagreement disagreement(const TrainedValues& reference, const TrainedValues& other, Steps steps) {
  TANDEM_CHECK(reference.gradients.size() == other.gradients.size(), "{} and {} steps",
               reference.gradients.size(), other.gradients.size());
  TANDEM_CHECK(reference.updated.size() == other.updated.size(), "{} and {} steps compared alone",
               reference.updated.size(), other.updated.size());
  Disagreement worst;
  const auto add_weights = [&](const TensorValues& first, const TensorValues& second) {
    if (steps == Steps::kByGradient) return add(worst, first, second);
    add(worst, without_rounding(first, reference.gradients),
        without_rounding(second, reference.gradients));
  };
  add_weights(reference.weights, other.weights);
  for (std::size_t step = 0; step < reference.updated.size(); ++step) {
    add_weights(reference.updated[step], other.updated[step]);
  }
  for (std::size_t step = 0; step < reference.gradients.size(); ++step) {
    add(worst, reference.gradients[step], other.gradients[step]);
  }
  return worst;
}

// In fp32 every element counts: another order of summation moves an element by some 1e-6 of its
// tensor's largest.
//
// A number of tf32 or bf16 that an fp32 rounding carries to its neighbour moves by 2^-11 or 2^-8,
// and an activation near zero for which ReLU then decides otherwise takes a sample's whole part of
// a gradient along: single elements move by up to half of the largest, whole tensors by up to 4 %
// of their norm, and hardly at all along the reference, 0.2 %, since roundings point anywhere. A
// silent rank of N makes the gradient shorter by 1/N, on average over the ranks: the bound of 1/64
// detects a silent rank for all N that one node has. Where both sides round alike such differences
// do not occur, except that Adam divides by a gradient of few bits: elements of weights then move
// by up to 1.3 %.
Disagreement bounds_of(Precision precision, Rounding rounding) {
  if (precision == Precision::kFp32) return {.element = 1e-3, .distance = 1e-3, .projection = 1e-3};
  if (rounding == Rounding::kAlike) {
    return {.element = 1.0 / 32, .distance = 1e-2, .projection = 1e-2};
  }
  return {.element = HUGE_VAL, .distance = 1.0 / 8, .projection = 1.0 / 64};
}

bool within(const Disagreement& found, const Disagreement& bounds) {
  return found.element <= bounds.element && found.distance <= bounds.distance &&
         found.projection <= bounds.projection;
}

std::string to_text(const Disagreement& found, const Disagreement& bounds) {
  const std::string element =
      std::isfinite(bounds.element) ? fmt::format("at most {:.0e}", bounds.element) : "no bound";
  return fmt::format(
      "in an element by {:.1e} of its tensor's largest ({}), in a tensor by {:.1e} of its norm (at "
      "most {:.1e}), along the reference by {:.1e} (at most {:.1e})",
      found.element, element, found.distance, bounds.distance, found.projection, bounds.projection);
}

}  // namespace tandem::bench
