// SPDX-License-Identifier: Apache-2.0
#include "common/hardware/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"

namespace tandem {
namespace {

constexpr std::string_view kFormat = "tandem calibration 2";
constexpr JsonRange kTime{0, 1e5};    // seconds of an operation, a collective or a step
constexpr JsonRange kCount{0, 1e18};  // FLOPs, bytes

}  // namespace

constexpr auto json_fields(const MeasuredPoint*) {
  return std::tuple{field("batch", &MeasuredPoint::batch, {false, kCount}),
                    field("flops", &MeasuredPoint::flops, {true, kCount}),
                    field("bytes", &MeasuredPoint::bytes, {true, kCount}),
                    field("seconds", &MeasuredPoint::seconds, {true, kTime}),
                    field("beside_others", &MeasuredPoint::beside_others, {false, kTime}),
                    field("exchanging", &MeasuredPoint::exchanging, {false, kTime})};
}
void finish_reading(const MeasuredPoint& point, const JsonValue& json) {
  if (point.seconds.empty()) json.at("seconds").complain("has no time: give one or more");
  const auto check = [&](const char* key, const std::optional<std::vector<double>>& times) {
    if (!times || times->size() == point.seconds.size()) return;
    json.at(key).complain("has not as many times as 'seconds'");
  };
  check("beside_others", point.beside_others);
  check("exchanging", point.exchanging);
}

constexpr auto json_fields(const MeasuredBatch*) {
  return std::tuple{field("batch", &MeasuredBatch::batch, {true, {1, 1e10}}),
                    field("step_seconds", &MeasuredBatch::step_seconds, {true, kTime}),
                    field("lower_seconds", &MeasuredBatch::lower_seconds, {true, kTime}),
                    field("upper_seconds", &MeasuredBatch::upper_seconds, {true, kTime}),
                    field("steps", &MeasuredBatch::steps, {true, {1, 1e9}}),
                    field("beside_others", &MeasuredBatch::beside_others, {false, kTime}),
                    field("exchanging", &MeasuredBatch::exchanging, {false, kTime}),
                    field("scatter", &MeasuredBatch::scatter, {false, {0, 10}})};
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
    json.complain("is no calibration: step_bench --calibrate writes one");
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
         "--calibration={}: a calibration is a file, as step_bench --calibrate writes one: give "
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

}  // namespace tandem
