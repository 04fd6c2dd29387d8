// SPDX-License-Identifier: Apache-2.0
#include "bench/verification.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "bench/strategy_factory.h"
#include "common/comm/agreement.h"
#include "common/model/tensor_values.h"

namespace tandem::bench {
namespace {

constexpr int kSteps = 3;

// Other orders of summation differ by some 1e-6 of a tensor's largest gradient in fp32; a gradient
// that is missing, doubled or of another step differs by about all of it.
//
// A number of tf32 or bf16 that an fp32 rounding carries to its neighbour moves by 2^-11 or 2^-8,
// and an activation near zero by which ReLU then decides otherwise takes a sample's whole part of a
// gradient with it. That hardly happens where both sides round alike: a host's products of a row do
// not depend on the other rows, and shares are the batch's gradients times N, exact for a power of
// two.
double tolerance_of(Precision precision, int devices, Backend backend) {
  if (precision == Precision::kFp32) return 1e-3;
  const bool round_alike =
      backend == Backend::kHost && std::has_single_bit(static_cast<unsigned>(devices));
  return round_alike ? 1e-2 : 3e-1;
}

// What training came to: the gradients that the optimizer saw, per step, and the weights at the
// end. Weights alone would hide much: an update is a small part of a weight.
struct Training {
  std::vector<TensorValues> gradients;  // of each step
  TensorValues weights;
};

Training train(Strategy& strategy, Platform& platform) {
  Training training;
  for (int step = 0; step < kSteps; ++step) {
    strategy.step();
    strategy.synchronize();
    training.gradients.push_back(values_of(platform, strategy.gradients()));
  }
  training.weights = values_of(platform, strategy.weights());
  return training;
}

// FNV-1a over the bits of all values.
std::uint64_t checksum(const TensorValues& tensors) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& tensor : tensors) {
    for (const float value : tensor) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3;
    }
  }
  return hash;
}

// The worst tensor's: gradients of every step, and weights.
double relative_difference(const Training& reference, const Training& other) {
  double worst = tandem::relative_difference(reference.weights, other.weights);
  for (std::size_t step = 0; step < reference.gradients.size(); ++step) {
    worst = std::max(worst,
                     tandem::relative_difference(reference.gradients[step], other.gradients[step]));
  }
  return worst;
}

bool equal_on_all_ranks(Bootstrap& bootstrap, const Training& mine) {
  const std::vector<std::string> sums =
      bootstrap.all_gather(std::to_string(checksum(mine.weights)));
  return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; });
}

// Of the same variant, by one device alone; on rank 0.
Training train_reference(Place& place, const Model& model, const Variant& variant) {
  Variant single = variant;
  single.strategy = StrategyKind::kSingle;
  const auto strategy = make_strategy(place, Launch::kThreads, model, single);
  return train(*strategy, *place.platform);
}

Verification compare(const StepOptions& options, Backend backend, double difference, bool equal,
                     std::uint64_t weights) {
  const std::string strategy = to_string(options.variant.strategy);
  const double tolerance =
      tolerance_of(options.variant.training.precision, options.place.devices, backend);
  const bool close = difference <= tolerance;
  return {close && equal,
          fmt::format("{}: over {} steps on {} device{} no gradient or weight of {} differs from "
                      "single's by more than {:.1e} of its tensor's largest (tolerance {:.0e}); "
                      "ranks hold {}; checksum of the weights {:016x}",
                      close && equal ? "verified" : "WRONG", kSteps, options.place.devices,
                      options.place.devices == 1 ? "" : "s", strategy, difference, tolerance,
                      equal ? "the same bits" : "DIFFERENT bits", weights)};
}

}  // namespace

Verification verify(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                    const Model& model) {
  if (options.variant.strategy == StrategyKind::kIndependent) {
    fail(ErrorKind::kUsage,
         "--verify: independent devices train apart and have no common result; verify "
         "another strategy");
  }
  try {
    const Training mine = [&] {
      const auto strategy =
          make_strategy_together(bootstrap, place, options.place.launch, model, options.variant);
      return train(*strategy, *place.platform);
    }();
    // The other ranks of ddp-replicate are sent weights; they keep none.
    const bool equal = has_root(options.variant.strategy) || equal_on_all_ranks(bootstrap, mine);
    double difference = 0;
    attempt_together(bootstrap, [&] {
      if (bootstrap.rank() != 0) return;
      difference = relative_difference(train_reference(place, model, options.variant), mine);
    });
    difference = std::stod(broadcast(bootstrap, fmt::format("{:.17g}", difference), 0));
    return compare(options, place.platform->backend(), difference, equal, checksum(mine.weights));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return {false, fmt::format("not verified: does not fit ({})", error.what())};
  }
}

}  // namespace tandem::bench
