// SPDX-License-Identifier: Apache-2.0
#include "common/hardware/calibration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "common/base/error.h"
#include "tests/support/errors.h"

namespace tandem {
namespace {

using test::error_of;
using test::mentions;

std::string machine_text() {
  std::ifstream file(std::filesystem::path(TANDEM_HARDWARE) / "a100-sxm4-8.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

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
  MeasuredModel& model = calibration.models["mlp-small"];
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
  EXPECT_EQ(read.hardware.name, "a100-sxm4-8");
  const MeasuredPoint& point =
      read.models.at("mlp-small").operations.at("linear_forward 2x3, 4 operands").front();
  EXPECT_EQ(point.seconds, (std::vector<double>{1e-6, 2e-6}));
  EXPECT_EQ(point.beside_others, (std::vector<double>{2e-6, 3e-6}));
  EXPECT_FALSE(read.sizes.at("copy").front().beside_others);
  EXPECT_EQ(read.models.at("mlp-small").batches.front().beside_others, 4e-3);
}

TEST(Calibration, RefusesOtherFiles_InOneLineThatSaysWhat) {
  const Error other = calibration_refusal(R"({"format": "a sweep"})");
  EXPECT_EQ(other.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(other, "is no calibration: step_bench --calibrate writes one"))
      << other.what();
  const Error newer = calibration_refusal(changed("calibration 1\"", "calibration 7\""));
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
  MeasuredPoint& point = calibration.models["mlp-small"].operations.begin()->second.front();
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

TEST(Calibration, MeasuredAnew_ABatchReplacesItself_AndOthersStay) {
  MeasuredModel model;
  model.batches = {{.batch = 8, .step_seconds = 1}, {.batch = 32, .step_seconds = 4}};
  model.operations["add"] = {{.batch = 8, .bytes = 8, .seconds = {1}},
                             {.batch = 32, .bytes = 32, .seconds = {4}}};
  model.operations["gone"] = {{.batch = 8, .bytes = 8, .seconds = {1}}};
  MeasuredModel anew;
  anew.batches = {{.batch = 8, .step_seconds = 2}};
  anew.operations["add"] = {{.batch = 8, .bytes = 8, .seconds = {2}}};
  add_measured(model, anew);
  ASSERT_EQ(model.batches.size(), 2U);
  EXPECT_EQ(model.batches[0].step_seconds, 2);
  EXPECT_EQ(model.batches[1].step_seconds, 4);
  ASSERT_EQ(model.operations.size(), 1U);
  ASSERT_EQ(model.operations["add"].size(), 2U);
  EXPECT_EQ(model.operations["add"][0].seconds.front(), 4);
  EXPECT_EQ(model.operations["add"][1].seconds.front(), 2);
}

}  // namespace
}  // namespace tandem
