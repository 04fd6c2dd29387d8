// SPDX-License-Identifier: Apache-2.0
#include "bench/verification.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/strategy_factory.h"
#include "common/comm/agreement.h"
#include "common/runtime/read_back.h"

namespace tandem::bench {
namespace {

constexpr int kSteps = 3;

// Other orders of summation in fp32 over kSteps steps; real mistakes are orders of magnitude
// larger.
constexpr double kTolerance = 1e-4;

using Weights = std::vector<std::vector<float>>;

Weights train(Strategy& strategy, Device& device) {
  for (int step = 0; step < kSteps; ++step) strategy.step();
  strategy.synchronize();
  Weights weights;
  for (const Span<float> tensor : strategy.weights()) {
    weights.push_back(read_back<float>(device, tensor));
  }
  return weights;
}

// FNV-1a over the bits of all weights.
std::uint64_t checksum(const Weights& weights) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& tensor : weights) {
    for (const float value : tensor) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3;
    }
  }
  return hash;
}

// Largest difference over the largest weight.
double relative_difference(const Weights& reference, const Weights& other) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    for (std::size_t j = 0; j < reference[i].size(); ++j) {
      const double expected = reference[i][j];
      largest = std::max(largest, std::abs(expected));
      difference = std::max(difference, std::abs(expected - other[i][j]));
      if (!std::isfinite(other[i][j])) return HUGE_VAL;
    }
  }
  return difference / std::max(largest, 1e-30);
}

bool equal_on_all_ranks(Bootstrap& bootstrap, const Weights& mine) {
  const std::vector<std::string> sums = bootstrap.all_gather(std::to_string(checksum(mine)));
  return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; });
}

// Of the same variant, by one device alone; on rank 0.
Weights train_reference(Place& place, const Model& model, const Variant& variant) {
  Variant single = variant;
  single.strategy = StrategyKind::kSingle;
  const auto strategy = make_strategy(place, Launch::kThreads, model, single);
  return train(*strategy, *place.device);
}

Verification compare(const StepOptions& options, double difference, bool equal) {
  const std::string strategy = to_string(options.variant.strategy);
  const bool close = difference <= kTolerance;
  return {close && equal,
          fmt::format("{}: after {} steps on {} device{} the weights of {} differ from single's by "
                      "at most {:.1e} of the largest (tolerance {:.0e}); ranks hold {}",
                      close && equal ? "verified" : "WRONG", kSteps, options.place.devices,
                      options.place.devices == 1 ? "" : "s", strategy, difference, kTolerance,
                      equal ? "the same bits" : "DIFFERENT bits")};
}

}  // namespace

Verification verify(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                    const Model& model) {
  if (options.variant.strategy == StrategyKind::kIndependent) {
    fail(ErrorKind::kUsage,
         "--verify: independent devices train apart and have no common result; verify single, dp "
         "or ddp");
  }
  try {
    const Weights mine = [&] {
      const auto strategy = make_strategy(place, options.place.launch, model, options.variant);
      return train(*strategy, *place.device);
    }();
    const bool equal = equal_on_all_ranks(bootstrap, mine);
    double difference = 0;
    attempt_together(bootstrap, [&] {
      if (bootstrap.rank() != 0) return;
      difference = relative_difference(train_reference(place, model, options.variant), mine);
    });
    difference = std::stod(broadcast(bootstrap, fmt::format("{:.17g}", difference), 0));
    return compare(options, difference, equal);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return {false, fmt::format("not verified: does not fit ({})", error.what())};
  }
}

}  // namespace tandem::bench
