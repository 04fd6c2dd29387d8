// SPDX-License-Identifier: Apache-2.0
#include "reports/render/page_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "reports/format.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/collectives.h"

namespace tandem::reports {
namespace {

Json pair_json(const Comparison& pair) {
  const results::Cell& cell = pair.dp->cell;
  std::string label = fmt::format("{}, batch {}, {}", cell.model, cell.global_batch,
                                  count_text(cell.devices, "device"));
  if (!cell.options.empty() || !pair.ddp->cell.options.empty()) {
    label += fmt::format(" ({} / {})", strategy_label(pair.ddp->cell), strategy_label(cell));
  }
  if (!pair.dp->modelled.empty()) label += ", modelled: " + pair.dp->modelled;
  const Json figures = triple(pair.ddp_speed);
  return Json{{"label", label},
              {"center", figures[0]},
              {"low", figures[1]},
              {"high", figures[2]},
              {"verdict", to_string(pair.ddp_verdict)}};
}

Json bucket_points(const CollectiveTimes& times) {
  Json points = Json::array();
  for (const BucketTime& bucket : times.buckets) {
    const double bandwidth = bus_bandwidth(bucket, times.ranks);
    if (bandwidth <= 0) continue;
    points.push_back(Json{{"bytes", bucket.bytes}, {"busbw", brief(bandwidth / 1e9)}});
  }
  return points;
}

// The bytes in "all_reduce/bytes:1048576/..."; 0 where the name has none.
double bytes_in(const std::string& name) {
  const std::size_t place = name.find("bytes:");
  return place == std::string::npos ? 0 : std::strtod(name.c_str() + place + 6, nullptr);
}

// Adds collective_bench's curves, one for all names that differ only in their bytes.
void add_bench_wires(Json& list, const results::Document& document) {
  std::map<std::string, Json> curves;
  for (const results::OtherEntry& entry : document.others) {
    const std::string name = entry.name();
    const double bytes = bytes_in(name);
    if (bytes <= 0) continue;
    for (const auto& [figure, value] : entry.figures()) {
      if (figure != "busbw_GBps") continue;
      curves[name.substr(0, name.find("bytes:"))].push_back(
          Json{{"bytes", bytes}, {"busbw", brief(value)}});
    }
  }
  for (auto& [name, points] : curves) {
    list.push_back(Json{{"label", name + "*"}, {"modelled", false}, {"points", points}});
  }
}

}  // namespace

double brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

Json triple(const stats::Estimate& estimate, double scale) {
  const double center = brief(scale * estimate.center);
  if (is_unbounded(estimate)) return Json::array({center, nullptr, nullptr, "unbounded"});
  if (!estimate.interval) return Json::array({center, nullptr, nullptr});
  return Json::array(
      {center, brief(scale * estimate.interval->low), brief(scale * estimate.interval->high)});
}

Json pairs_json(const Summary& summary, std::size_t most) {
  std::vector<const Comparison*> pairs;
  for (const Comparison& pair : summary.comparisons) pairs.push_back(&pair);
  if (pairs.size() > most) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto* a, const auto* b) {
      return a->dp->cell.devices > b->dp->cell.devices;
    });
  }
  pairs.resize(std::min(pairs.size(), most));
  Json list = Json::array();
  for (const Comparison* pair : pairs) list.push_back(pair_json(*pair));
  return list;
}

Json buckets_json(const Summary& summary) {
  Json list = Json::array();
  for (const BucketCurve& curve : bucket_curves(summary)) {
    Json points = Json::array();
    for (const BucketCurve::Point& point : curve.points) {
      Json json{{"cap", point.cap}, {"step", triple(point.cell->median_step, 1e3)}};
      if (std::isfinite(point.mebibytes)) json["mib"] = point.mebibytes;
      points.push_back(std::move(json));
    }
    list.push_back(Json{{"title", curve.title}, {"points", std::move(points)}});
  }
  return list;
}

Json wires_json(const Report& report) {
  Json list = Json::array();
  for (const CollectiveTimes& times : collective_times(report.summary)) {
    Json points = bucket_points(times);
    if (points.empty()) continue;
    const results::Cell& cell = times.cell->cell;
    list.push_back(
        Json{{"label", fmt::format("{}, batch {}, {} on {}", cell.model, cell.global_batch,
                                   strategy_label(cell), cell.devices)},
             {"modelled", !times.cell->modelled.empty()},
             {"points", std::move(points)}});
  }
  add_bench_wires(list, report.document);
  return list;
}

}  // namespace tandem::reports
