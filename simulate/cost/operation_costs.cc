// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/operation_costs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/error.h"
#include "simulate/cost/kernel_time.h"

namespace tandem {
namespace {

constexpr double kFarthest = 4;  // beyond the measured sizes
constexpr double kLeast = 1e-9;  // seconds: times have a logarithm
constexpr double kAlike = 1e-9;  // relative difference of equal sizes

double size_of(double flops, double bytes) { return flops > 0 ? flops : bytes; }

double work_size(const MeasuredPoint& point) {
  return size_of(point.flops, static_cast<double>(point.bytes));
}

// How far apart two batches are; 0 where either is not known.
double distance(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  return std::abs(std::log(static_cast<double>(a) / static_cast<double>(b)));
}

bool are_alike(double a, double b) { return std::abs(a - b) <= kAlike * std::max(a, b); }

double mean_of(const std::vector<double>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

// Combines two lists one by one where they are of one length, and their means where they are not.
template <class Combine>
std::vector<double> combined(const std::vector<double>& a, const std::vector<double>& b,
                             const Combine& combine) {
  if (a.size() != b.size()) return {combine(mean_of(a), mean_of(b))};
  std::vector<double> all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back(combine(a[i], b[i]));
  return all;
}

double slope(const SizedTimes& from, const SizedTimes& to) {
  const double times = std::log(std::max(mean_of(to.seconds), kLeast)) -
                       std::log(std::max(mean_of(from.seconds), kLeast));
  return times / (std::log(to.size) - std::log(from.size));
}

// The times at `size` from those of `end`, the last of the curve's ends before `size`.
SecondsAtSize scaled(const SizedTimes& end, double slope, double size) {
  const double factor = std::pow(size / end.size, std::clamp(slope, 0.0, 1.0));
  SecondsAtSize found{.seconds = end.seconds, .basis = CostBasis::kScaled};
  for (double& seconds : found.seconds) seconds *= factor;
  return found;
}

std::optional<SecondsAtSize> beyond(const std::vector<SizedTimes>& curve, double size) {
  const bool is_above = size > curve.back().size;
  const SizedTimes& end = is_above ? curve.back() : curve.front();
  const double ratio = is_above ? size / end.size : end.size / size;
  if (ratio > kFarthest * (1 + kAlike)) return std::nullopt;
  if (curve.size() == 1) return scaled(end, 1, size);
  const std::size_t first = is_above ? curve.size() - 2 : 0;
  return scaled(end, slope(curve[first], curve[first + 1]), size);
}

Nanoseconds rounded(double seconds) { return Nanoseconds{std::llround(seconds * 1e9)}; }

// Between the sizes of a curve; below them as long as at the smallest, beyond in proportion.
Nanoseconds time_on(const std::vector<SizedTimes>& curve, double size) {
  if (size <= curve.front().size) return rounded(curve.front().seconds.front());
  const SizedTimes& last = curve.back();
  if (size > last.size) return rounded(last.seconds.front() * size / last.size);
  return rounded(seconds_at(curve, size)->seconds.front());
}

}  // namespace

std::optional<SecondsAtSize> seconds_at(const std::vector<SizedTimes>& curve, double size) {
  if (curve.empty() || size <= 0) return std::nullopt;
  const auto above = std::ranges::lower_bound(curve, size * (1 - kAlike), {}, &SizedTimes::size);
  if (above != curve.end() && are_alike(above->size, size)) {
    return SecondsAtSize{above->seconds, CostBasis::kMeasured};
  }
  if (above == curve.begin() || above == curve.end()) return beyond(curve, size);
  const SizedTimes& below = *std::prev(above);
  const double share = std::log(size / below.size) / std::log(above->size / below.size);
  const auto between = [share](double a, double b) {
    return std::exp((1 - share) * std::log(std::max(a, kLeast)) +
                    share * std::log(std::max(b, kLeast)));
  };
  return SecondsAtSize{combined(below.seconds, above->seconds, between), CostBasis::kInterpolated};
}

std::vector<SizedTimes> curve_of(const std::vector<MeasuredPoint>& points,
                                 const CalibratedSteps& steps) {
  std::vector<const MeasuredPoint*> sorted;
  for (const MeasuredPoint& point : points) sorted.push_back(&point);
  const auto by_size = [&](const MeasuredPoint* point) {
    return std::pair(work_size(*point), distance(point->batch, steps.batch));
  };
  std::ranges::stable_sort(sorted, {}, by_size);
  std::vector<SizedTimes> curve;
  for (const MeasuredPoint* const point : sorted) {
    const double size = work_size(*point);
    if (size <= 0 || (!curve.empty() && are_alike(curve.back().size, size))) continue;
    const bool is_beside = steps.has_others && point->beside_others;
    curve.push_back({size, is_beside ? *point->beside_others : point->seconds});
  }
  return curve;
}

OperationCosts::OperationCosts(std::shared_ptr<const MachineCalibration> calibration,
                               CalibratedSteps steps, std::optional<GpuDescription> described)
    : calibration_(std::move(calibration)),
      steps_(std::move(steps)),
      described_(std::move(described)) {
  const auto found = calibration_->models.find(steps_.model);
  if (found == calibration_->models.end()) {
    std::vector<std::string> names;
    for (const auto& [name, one] : calibration_->models) names.push_back(name);
    fail(ErrorKind::kUsage,
         "--calibration has no times of {}, but of {}: calibrate that model, with step_bench "
         "calibrate",
         steps_.model, names.empty() ? "no model" : fmt::format("{}", fmt::join(names, ", ")));
  }
  const MeasuredModel model = pooled(found->second);
  for (const auto& [key, points] : model.operations) {
    of_model_.by_key[key] = curve_of(points, steps_);
  }
  for (const auto& [name, points] : calibration_->sizes) {
    of_sizes_.by_key[name] = curve_of(points, steps_);
  }
}

const std::vector<SizedTimes>* OperationCosts::find(const Curves& curves, std::string_view key) {
  const auto found = curves.by_key.find(key);
  return found == curves.by_key.end() ? nullptr : &found->second;
}

// Times of the model's own step come first, then those at sizes that lie around the asked one.
std::optional<SecondsAtSize> OperationCosts::measured(const AskedOperation& asked) const {
  const double size = size_of(asked.work.flops, static_cast<double>(asked.work.moved.value));
  std::optional<SecondsAtSize> farther;
  const auto at = [&](const std::vector<SizedTimes>* curve) -> std::optional<SecondsAtSize> {
    if (curve == nullptr) return std::nullopt;
    auto found = seconds_at(*curve, size);
    if (!found || found->basis != CostBasis::kScaled) return found;
    if (!farther) farther = std::move(found);
    return std::nullopt;
  };
  if (auto found = at(find(of_model_, asked.key))) return found;
  const std::vector<SizedTimes>* const sizes = find(of_sizes_, asked.name);
  if (auto found = at(sizes)) return found;
  // What is smaller than the smallest size takes as long: it is the least time of an operation.
  const bool is_small = sizes != nullptr && !sizes->empty() && size < sizes->front().size;
  if (!farther && is_small) return SecondsAtSize{sizes->front().seconds, CostBasis::kScaled};
  return farther;
}

void OperationCosts::refuse(const AskedOperation& asked) const {
  fail(ErrorKind::kUsage,
       "--calibration: {} of {:.3g} FLOPs and {} was not measured, nor within a factor of four, in "
       "a step of {}: calibrate the model at batches that are nearer, or give --hardware, which "
       "says what else costs",
       asked.key, asked.work.flops, to_string(asked.work.moved), steps_.model);
}

OperationCost OperationCosts::cost_of(const AskedOperation& asked) const {
  if (calibration_) {
    if (const auto found = measured(asked)) {
      OperationCost cost{.basis = found->basis};
      for (const double seconds : found->seconds) {
        cost.times.push_back(rounded(seconds));
      }
      return cost;
    }
    if (!described_) refuse(asked);
  }
  Nanoseconds time{0};
  for (const ListedKernel& kernel : asked.kernels) time += kernel_time(*described_, kernel);
  return {.times = {time}};
}

std::optional<CollectiveCost> OperationCosts::cost_of_collective(std::string_view name, Bytes size,
                                                                 int ranks) const {
  if (!calibration_ || described_) return std::nullopt;
  std::vector<const MeasuredCollective*> all;
  for (const MeasuredCollective& one : calibration_->collectives) {
    if (one.name == name) all.push_back(&one);
  }
  if (all.empty()) return std::nullopt;
  const auto distance = [ranks](const MeasuredCollective* one) {
    return std::abs(one->ranks - ranks);
  };
  const int nearest = (*std::ranges::min_element(all, {}, distance))->ranks;
  std::vector<MeasuredPoint> points;
  for (const MeasuredCollective* const one : all) {
    if (one->ranks != nearest) continue;
    points.push_back({.bytes = one->bytes, .seconds = {one->seconds}});
  }
  return CollectiveCost{time_on(curve_of(points, {}), static_cast<double>(size.value)), nearest};
}

}  // namespace tandem
