// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/stats/summary.h"

namespace tandem {

namespace {

constexpr std::string_view kFormat = "tandem calibration 4";
constexpr JsonRange kTime{0, 1e5};    // seconds of an operation, a collective or a step
constexpr JsonRange kCount{0, 1e18};  // FLOPs, bytes

}  // namespace

constexpr auto json_fields(const MeasuredPoint*) {
  return std::tuple{field("batch", &MeasuredPoint::batch, {false, kCount}),
                    field("flops", &MeasuredPoint::flops, {true, kCount}),
                    field("bytes", &MeasuredPoint::bytes, {true, kCount}),
                    field("seconds", &MeasuredPoint::seconds, {true, kTime}),
                    field("beside_others", &MeasuredPoint::beside_others, {false, kTime})};
}
void finish_reading(const MeasuredPoint& point, const JsonValue& json) {
  if (point.seconds.empty()) json.at("seconds").complain("has no time: give one or more");
  if (!point.beside_others || point.beside_others->size() == point.seconds.size()) return;
  json.at("beside_others").complain("has not as many times as 'seconds'");
}

constexpr auto json_fields(const MeasuredBatch*) {
  return std::tuple{field("batch", &MeasuredBatch::batch, {true, {1, 1e10}}),
                    field("step_seconds", &MeasuredBatch::step_seconds, {true, kTime}),
                    field("lower_seconds", &MeasuredBatch::lower_seconds, {true, kTime}),
                    field("upper_seconds", &MeasuredBatch::upper_seconds, {true, kTime}),
                    field("steps", &MeasuredBatch::steps, {true, {1, 1e9}}),
                    field("beside_others", &MeasuredBatch::beside_others, {false, kTime})};
}

constexpr auto json_fields(const MeasuredModel*) {
  return std::tuple{field("batches", &MeasuredModel::batches, {true}),
                    field("operations", &MeasuredModel::operations, {true})};
}

constexpr auto json_fields(const MeasuredCollective*) {
  return std::tuple{field("name", &MeasuredCollective::name, {true}),
                    field("ranks", &MeasuredCollective::ranks, {true, {1, 1e6}}),
                    field("bytes", &MeasuredCollective::bytes, {true, kCount}),
                    field("seconds", &MeasuredCollective::seconds, {true, kTime})};
}

constexpr auto json_fields(const CalibrationOrigin*) {
  return std::tuple{field("fingerprint", &CalibrationOrigin::fingerprint, {true}),
                    field("backend", &CalibrationOrigin::backend, {true}),
                    field("precision", &CalibrationOrigin::precision, {true}),
                    field("built_by", &CalibrationOrigin::built_by, {true}),
                    field("built_from", &CalibrationOrigin::built_from, {true}),
                    field("time", &CalibrationOrigin::time, {true})};
}

namespace {

// The format's name ends with its version.
void check_format(const JsonValue& json) {
  json.expect_object();
  const std::string format = json.at("format").line();
  if (format == kFormat) return;
  if (!format.starts_with("tandem calibration ")) {
    json.complain("is no calibration: step_bench calibrate writes one");
  }
  json.at("format").complain(
      fmt::format("is '{}', and this program reads '{}': calibrate anew", format, kFormat));
}

}  // namespace

MachineCalibration parse_calibration(std::string_view text, const std::string& source) {
  const JsonDocument document(JsonAuthor::kPerson, text, source);
  const JsonValue json = document.root();
  check_format(json);
  json.allow({"format", "origin", "hardware", "sizes", "collectives", "models"});
  MachineCalibration calibration;
  read_json(json.at("origin"), calibration.origin);
  calibration.hardware_text = json_line(json.at("hardware"));
  calibration.hardware =
      parse_hardware(calibration.hardware_text, fmt::format("{}: hardware", source));
  read_json(json.at("sizes"), calibration.sizes);
  read_json(json.at("collectives"), calibration.collectives);
  read_json(json.at("models"), calibration.models);
  return calibration;
}

MachineCalibration read_calibration(const std::string& name) {
  const auto file = checksummed_file(name);
  if (!file) {
    fail(ErrorKind::kUsage,
         "--calibration={}: a calibration is a file, as step_bench calibrate writes one: give "
         "its name, which ends in .json",
         name);
  }
  return parse_calibration(text_of(*file, "--calibration"),
                           fmt::format("calibration {}", file->path));
}

std::string calibration_text(const MachineCalibration& calibration) {
  std::string text;
  JsonWriter writer(text, 1);
  writer.open("", '{');
  writer.value("format", kFormat);
  write_json(writer, "origin", calibration.origin);
  const JsonDocument hardware(JsonAuthor::kPerson, calibration.hardware_text, "hardware");
  writer.copy("hardware", hardware.root());
  write_json(writer, "sizes", calibration.sizes);
  write_json(writer, "collectives", calibration.collectives);
  write_json(writer, "models", calibration.models);
  writer.close();
  writer.finish();
  return text;
}

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
      .beside_others = median_where_present(launches, &MeasuredBatch::beside_others)};
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
  for (const MeasuredPoint* const launch : launches) {
    if (launch->seconds.size() != point.seconds.size()) continue;
    alone.push_back(&launch->seconds);
    if (launch->beside_others) beside.push_back(&*launch->beside_others);
  }
  point.seconds = medians(alone);
  if (!beside.empty()) point.beside_others = medians(beside);
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
