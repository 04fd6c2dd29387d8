// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/hardware/calibration.h"
#include "common/stats/summary.h"

namespace tandem {
namespace {

bool has_any(const MeasuredModel& launch, const std::vector<MeasuredBatch>& batches) {
  return std::ranges::any_of(batches, [&](const MeasuredBatch& asked) {
    return std::ranges::find(launch.batches, asked.batch, &MeasuredBatch::batch) !=
           launch.batches.end();
  });
}

// The median of one figure over launches.
template <class T, class Figure>
double median_of(const std::vector<const T*>& launches, Figure figure) {
  std::vector<double> values;
  for (const T* const launch : launches) values.push_back(figure(*launch));
  return stats::median(values);
}

// The median of a figure that some launches lack; nothing where all do.
std::optional<double> median_where_present(const std::vector<const MeasuredBatch*>& launches,
                                           std::optional<double> MeasuredBatch::*figure) {
  std::vector<double> values;
  for (const MeasuredBatch* const launch : launches) {
    if (launch->*figure) values.push_back(*(launch->*figure));
  }
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

MeasuredBatch pooled_batch(const std::vector<const MeasuredBatch*>& launches) {
  MeasuredBatch batch{
      .batch = launches.front()->batch,
      .step_seconds = median_of(launches, [](const auto& one) { return one.step_seconds; }),
      .lower_seconds = median_of(launches, [](const auto& one) { return one.lower_seconds; }),
      .upper_seconds = median_of(launches, [](const auto& one) { return one.upper_seconds; }),
      .beside_others = median_where_present(launches, &MeasuredBatch::beside_others),
      .exchanging = median_where_present(launches, &MeasuredBatch::exchanging),
      .scatter = median_where_present(launches, &MeasuredBatch::scatter)};
  for (const MeasuredBatch* const launch : launches) batch.steps += launch->steps;
  return batch;
}

// The times of a point's occurrences: how a launch has them.
using Times = std::vector<double>;

Times medians(const std::vector<const Times*>& launches) {
  Times medians;
  for (std::size_t i = 0; i < launches.front()->size(); ++i) {
    medians.push_back(median_of(launches, [i](const Times& times) { return times[i]; }));
  }
  return medians;
}

// Launches of one batch run the same steps, so that a point has as many occurrences in each.
MeasuredPoint pooled_point(const std::vector<const MeasuredPoint*>& launches) {
  MeasuredPoint point = *launches.front();
  std::vector<const Times*> alone;
  std::vector<const Times*> beside;
  std::vector<const Times*> exchanging;
  for (const MeasuredPoint* const launch : launches) {
    if (launch->seconds.size() != point.seconds.size()) continue;
    alone.push_back(&launch->seconds);
    if (launch->beside_others) beside.push_back(&*launch->beside_others);
    if (launch->exchanging) exchanging.push_back(&*launch->exchanging);
  }
  point.seconds = medians(alone);
  if (!beside.empty()) point.beside_others = medians(beside);
  if (!exchanging.empty()) point.exchanging = medians(exchanging);
  return point;
}

}  // namespace

void add_measured(std::vector<MeasuredModel>& launches, const MeasuredModel& measured) {
  const auto place = std::ranges::find_if(
      launches, [&](const MeasuredModel& launch) { return !has_any(launch, measured.batches); });
  if (place == launches.end()) {
    launches.push_back(measured);
    return;
  }
  place->batches.insert(place->batches.end(), measured.batches.begin(), measured.batches.end());
  std::ranges::sort(place->batches, {}, &MeasuredBatch::batch);
  for (const auto& [key, points] : measured.operations) {
    auto& all = place->operations[key];
    all.insert(all.end(), points.begin(), points.end());
  }
}

MeasuredModel pooled(const std::vector<MeasuredModel>& launches) {
  std::map<std::int64_t, std::vector<const MeasuredBatch*>> batches;
  using PlaceOfPoint = std::tuple<std::string, std::int64_t, double, std::int64_t>;
  std::map<PlaceOfPoint, std::vector<const MeasuredPoint*>> points;
  for (const MeasuredModel& launch : launches) {
    for (const MeasuredBatch& batch : launch.batches) batches[batch.batch].push_back(&batch);
    for (const auto& [key, of_key] : launch.operations) {
      for (const MeasuredPoint& point : of_key) {
        points[{key, point.batch, point.flops, point.bytes}].push_back(&point);
      }
    }
  }
  MeasuredModel model;
  for (const auto& [batch, of_launches] : batches) {
    model.batches.push_back(pooled_batch(of_launches));
  }
  for (const auto& [place, of_launches] : points) {
    model.operations[std::get<std::string>(place)].push_back(pooled_point(of_launches));
  }
  return model;
}

}  // namespace tandem
