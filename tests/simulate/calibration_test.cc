// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/calibration.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/error.h"
#include "simulate/catalogue/catalogue.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

using test::error_of;
using test::mentions;

std::string machine_text() { return hardware_text(catalogued_hardware("dgx-a100", "--hardware")); }

MachineCalibration small_calibration() {
  MachineCalibration calibration;
  calibration.origin = {.fingerprint = "2 cores of a CPU",
                        .backend = "host",
                        .precision = "fp32",
                        .built_by = "a compiler",
                        .built_from = "a commit",
                        .time = "2026-01-01T00:00:00+00:00"};
  calibration.hardware_text = machine_text();
  calibration.sizes["copy"] = {{.bytes = 1024, .seconds = {1e-6}}};
  calibration.collectives = {{"all_reduce", 2, 4096, 1e-4}};
  MeasuredModel& model = calibration.models["mlp-small"].emplace_back();
  model.batches = {{.batch = 8, .step_seconds = 3e-3, .steps = 20, .beside_others = 4e-3}};
  model.operations["linear_forward 2x3, 4 operands"] = {{.batch = 8,
                                                         .flops = 96,
                                                         .bytes = 200,
                                                         .seconds = {1e-6, 2e-6},
                                                         .beside_others = {{2e-6, 3e-6}}}};
  return calibration;
}

// The text with `part`, which stands in it once, in place of another.
std::string changed(std::string_view part, std::string_view instead) {
  std::string text = calibration_text(small_calibration());
  const std::size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return text.replace(at, part.size(), instead);
}

Error calibration_refusal(const std::string& text) {
  return error_of([&] { static_cast<void>(parse_calibration(text, "calibration own.json")); });
}

TEST(Calibration, ReadsWhatItWrites) {
  const std::string text = calibration_text(small_calibration());
  const MachineCalibration read = parse_calibration(text, "calibration own.json");
  EXPECT_EQ(calibration_text(read), text);
  EXPECT_EQ(read.origin.fingerprint, "2 cores of a CPU");
  EXPECT_EQ(read.hardware.name, "dgx-a100");
  const MeasuredPoint& point =
      read.models.at("mlp-small").front().operations.at("linear_forward 2x3, 4 operands").front();
  EXPECT_EQ(point.seconds, (std::vector<double>{1e-6, 2e-6}));
  EXPECT_EQ(point.beside_others, (std::vector<double>{2e-6, 3e-6}));
  EXPECT_FALSE(read.sizes.at("copy").front().beside_others);
  EXPECT_EQ(read.models.at("mlp-small").front().batches.front().beside_others, 4e-3);
}

TEST(Calibration, RefusesOtherFiles_InOneLineThatSaysWhat) {
  const Error other = calibration_refusal(R"({"format": "a sweep"})");
  EXPECT_EQ(other.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(other, "is no calibration: step_bench calibrate writes one"))
      << other.what();
  const Error newer = calibration_refusal(changed("calibration 4\"", "calibration 7\""));
  EXPECT_TRUE(mentions(newer, "is 'tandem calibration 7', and this program reads")) << newer.what();
  const Error machine = calibration_refusal(machine_text());
  EXPECT_TRUE(mentions(machine, "format")) << machine.what();
}

TEST(Calibration, RefusesDamage_NamingThePlace) {
  const Error unknown = calibration_refusal(changed("\"collectives\"", "\"collective\""));
  EXPECT_TRUE(mentions(unknown, "collective")) << unknown.what();
  const Error slow =
      calibration_refusal(changed("\"step_seconds\": 0.003", "\"step_seconds\": -3"));
  EXPECT_TRUE(mentions(slow, "step_seconds")) << slow.what();
  const Error machine =
      calibration_refusal(changed("\"value\": \"2039GBps\"", "\"value\": \"2039\""));
  EXPECT_TRUE(mentions(machine, "hardware: gpu.memory_bandwidth")) << machine.what();
}

TEST(Calibration, RefusesOperationsWithoutTimes_AndUnlikeNumbersOfTimes) {
  MachineCalibration calibration = small_calibration();
  MeasuredPoint& point = calibration.models["mlp-small"].front().operations.begin()->second.front();
  point.beside_others->pop_back();
  const Error unlike = calibration_refusal(calibration_text(calibration));
  EXPECT_TRUE(mentions(unlike, "has not as many times as 'seconds'")) << unlike.what();
  point.seconds.clear();
  const Error none = calibration_refusal(calibration_text(calibration));
  EXPECT_TRUE(mentions(none, "has no time")) << none.what();
}

TEST(Calibration, WithoutAFilesName_SaysWhatIsWanted) {
  const Error error = error_of([] { static_cast<void>(read_calibration("h100")); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "--calibration=h100: a calibration is a file")) << error.what();
}

MeasuredModel launch_of(std::int64_t batch, double seconds) {
  MeasuredModel launch;
  launch.batches = {{.batch = batch,
                     .step_seconds = seconds,
                     .lower_seconds = seconds,
                     .upper_seconds = 2 * seconds,
                     .steps = 10}};
  launch.operations["add"] = {{.batch = batch, .bytes = batch, .seconds = {seconds, 3 * seconds}}};
  return launch;
}

TEST(Calibration, MeasuredAnew_ABatchIsALaunchMore_AndANewBatchJoinsTheFirst) {
  std::vector<MeasuredModel> launches;
  add_measured(launches, launch_of(32, 4));
  add_measured(launches, launch_of(8, 1));
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].batches[0].batch, 8);
  EXPECT_EQ(launches[0].operations["add"].size(), 2U);
  add_measured(launches, launch_of(8, 2));
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[1].batches[0].step_seconds, 2);
}

TEST(Calibration, PooledLaunches_HaveTheMediansOfEachBatchAndOccurrence) {
  std::vector<MeasuredModel> launches;
  for (const double seconds : {1.0, 9.0, 2.0}) add_measured(launches, launch_of(8, seconds));
  add_measured(launches, launch_of(32, 5));
  launches[0].operations["add"].front().beside_others = {{7, 8}};
  launches[0].batches[0].beside_others = 7;
  const MeasuredModel model = pooled(launches);
  ASSERT_EQ(model.batches.size(), 2U);
  EXPECT_EQ(model.batches[0].step_seconds, 2);
  EXPECT_EQ(model.batches[0].upper_seconds, 4);
  EXPECT_EQ(model.batches[0].steps, 30);
  EXPECT_EQ(model.batches[0].beside_others, 7);
  EXPECT_FALSE(model.batches[1].beside_others);
  const std::vector<MeasuredPoint>& points = model.operations.at("add");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].seconds, (std::vector<double>{2, 6}));
  EXPECT_EQ(points[0].beside_others, (std::vector<double>{7, 8}));
  EXPECT_EQ(points[1].seconds, (std::vector<double>{5, 15}));
}

}  // namespace
}  // namespace tandem
