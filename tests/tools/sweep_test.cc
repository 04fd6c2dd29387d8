// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/base/error.h"
#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {
namespace {

constexpr const char* kSweep = R"({
  "name": "test",
  "workloads": [{"model": "mlp-small", "batch": [64, 512]}, {"model": "mlp-base", "batch": 64}],
  "devices": [1, 2],
  "strategies": ["single", "dp", {"strategy": "ddp", "options": {"bucket-mb": 1, "overlap": false}},
                 {"strategy": "independent", "launch": "processes"}]
})";

std::string refusal_of(const std::string& text) {
  const auto error = capture_error([&] { (void)parse_sweep(text, "test.json"); });
  EXPECT_TRUE(!error || error->exit_code() == 2);
  return error ? error->what() : "";
}

// The sweep above with one part replaced.
std::string with(const std::string& part, const std::string& replacement) {
  std::string text = kSweep;
  return text.replace(text.find(part), part.size(), replacement);
}

TEST(Sweep, Axes_AreRead) {
  const Sweep sweep = parse_sweep(kSweep, "test.json");
  ASSERT_EQ(sweep.workloads.size(), 3U);
  EXPECT_EQ(sweep.workloads[1].model, "mlp-small");
  EXPECT_EQ(sweep.workloads[1].batch, 512);
  EXPECT_EQ(sweep.devices, (std::vector{1, 2}));
  ASSERT_EQ(sweep.strategies.size(), 4U);
  EXPECT_EQ(sweep.strategies[1].launch, "threads");
  EXPECT_EQ(sweep.strategies[2].launch, "processes");
  EXPECT_EQ(sweep.strategies[2].options.at("bucket-mb"), "1");
  EXPECT_EQ(sweep.strategies[2].options.at("overlap"), "off");
  EXPECT_EQ(sweep.launches, 6);
}

TEST(Sweep, UnknownKeys_AreNamed_WhereverTheyAre) {
  EXPECT_NE(refusal_of(with("\"devices\"", "\"device\"")).find("unknown key 'device'"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"batch\": 64", "\"batch\": 64, \"bach\": 1"))
                .find("workloads[1]: unknown key 'bach'"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"launch\": \"processes\"", "\"launch\": \"processes\", \"x\": 1"))
                .find("strategies[3]: unknown key 'x'"),
            std::string::npos);
}

TEST(Sweep, WrongValues_AreNamed) {
  EXPECT_NE(refusal_of(with("[1, 2]", "[1, 0]")).find("devices[1]: 0: use a whole"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("[1, 2]", "\"two\"")).find("devices: \"two\": use numbers"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("[1, 2]", "[1.5]")).find("devices[0]: 1.5: use a whole"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"dp\"", "\"pd\"")).find("strategy 'pd' is unknown"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"launch\": \"processes\"", "\"launch\": \"fork\""))
                .find("launch 'fork' is unknown"),
            std::string::npos);
  EXPECT_NE(refusal_of(with(", \"launch\": \"processes\"", "")).find("'launch' is missing"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"name\": \"test\"", "\"name\": \"test\", \"min_time\": \"5\""))
                .find("min_time"),
            std::string::npos);
  EXPECT_NE(refusal_of("[]"), "");
}

TEST(Sweep, WhatWouldNeverEnd_IsRefused) {
  const auto refused = [](const std::string& key, const std::string& why) {
    const std::string message =
        refusal_of(with("\"name\": \"test\"", "\"name\": \"test\", " + key));
    return message.find(why) != std::string::npos;
  };
  EXPECT_TRUE(refused("\"launches\": 1001", "launches: 1001: use a whole number from 1 to 1000"));
  EXPECT_TRUE(refused("\"min_samples\": 100001",
                      "min_samples: 100001: use a whole number from 1 to 100000"));
  EXPECT_TRUE(refused("\"min_time\": \"3601s\"", "'min_time' is above 3600s"));
  EXPECT_FALSE(refused("\"min_time\": \"3600s\", \"min_samples\": 100000", "above"));
}

// As many as that cannot be planned, or read, in any time.
TEST(Sweep, MoreThanAnySweepNeeds_IsRefused) {
  const auto list = [](int count, const auto& element) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += (i > 1 ? ", " : "[") + element(i);
    return text + "]";
  };
  const auto number = [](int i) { return std::to_string(i); };
  const std::string values = list(200, number);
  EXPECT_NE(refusal_of(with("[64, 512]", list(10'001, number))).find("more than 10000 workloads"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("[1, 2]", list(100'002, [](int) { return std::string("1"); })))
                .find("'devices' is too long"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(with("\"devices\"", "\"axes\": {\"compress\": " + values +
                                         ", \"first-bucket-mb\": " + values + "}, \"devices\""))
          .find("more than 10000 combinations"),
      std::string::npos);
  Sweep large = parse_sweep(with("[64, 512]", list(9'000, number)), "test.json");
  large.devices.push_back(3);
  const Error error = test::error_of([&] { static_cast<void>(plan_cells(large, "auto")); });
  EXPECT_NE(std::string(error.what()).find("more than 100000 cells"), std::string::npos);
}

TEST(Sweep, BrokenSyntax_IsNamedByLineAndColumn) {
  const auto ends_in = [](const std::string& json, const std::string& place) {
    return refusal_of(json).ends_with("not valid JSON, from " + place + "; mend it");
  };
  EXPECT_TRUE(ends_in("{", "line 1, column 2"));
  EXPECT_TRUE(ends_in("", "line 1, column 1"));
  EXPECT_TRUE(ends_in("{\"name\": \"t\",\n \"devices\": [1,,2]}", "line 2, column 16"));
  EXPECT_TRUE(ends_in("{\"name\": \"t\",\n\n}", "line 3, column 1"));
  EXPECT_NE(refusal_of(with("\"name\": \"test\"", "\"name\": \"test\", \"name\": \"t\""))
                .find("key \"name\" stands twice in one object, again in line 2"),
            std::string::npos);
  EXPECT_TRUE(ends_in("{\"devices\": 1e999}", "line 1, column 17: a number is out of range"));
}

TEST(Sweep, Precision_IsAnAxisOfWorkloads) {
  const auto precisions_of = [](const std::string& json) {
    std::vector<std::string> found;
    const std::string text =
        R"({"name": "t", "devices": 1, "strategies": ["single"], "workloads": [{"model": "m", "batch": 8)" +
        json + "}]}";
    for (const SweepWorkload& workload : parse_sweep(text, "t.json").workloads) {
      found.push_back(workload.precision);
    }
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(precisions_of(""), Names{"fp32"});
  EXPECT_EQ(precisions_of(R"(, "precision": "bf16")"), Names{"bf16"});
  EXPECT_EQ(precisions_of(R"(, "precision": ["fp32", "bf16"])"), (Names{"fp32", "bf16"}));
  EXPECT_THROW(precisions_of(R"(, "precision": ["fp32", "fp16"])"), Error);
  EXPECT_THROW(precisions_of(R"(, "precision": 16)"), Error);
  EXPECT_THROW(precisions_of(R"(, "precision": [])"), Error);
}

// In the text of a sweep without it nothing has changed: journals of before can be gone on with.
TEST(Sweep, DefinitionOfAPrecision_IsReadBack_AndThatOfFp32HasNone) {
  Sweep sweep = parse_sweep(kSweep, "test.json");
  EXPECT_EQ(definition_of(sweep, {"auto", false}).find("precision"), std::string::npos);
  const std::string before = definition_of(sweep, {"auto", false});
  sweep.workloads.front().precision = "bf16";
  EXPECT_NE(definition_of(sweep, {"auto", false}), before);
}

TEST(Sweep, Definition_TellsSweepsApart_ButNotByTheirDescription) {
  const Sweep sweep = parse_sweep(kSweep, "test.json");
  Sweep other = sweep;
  other.description = "something else";
  EXPECT_EQ(definition_of(sweep, {"auto", false}), definition_of(other, {"auto", false}));
  EXPECT_NE(definition_of(sweep, {"auto", false}), definition_of(sweep, {"host", false}));
  EXPECT_NE(definition_of(sweep, {"auto", false}), definition_of(sweep, {"auto", true}));
  EXPECT_NE(definition_of(sweep, {"auto", false}),
            definition_of(sweep, {"auto", false, "hosts node1:2"}));
  other.launches = 7;
  EXPECT_NE(definition_of(sweep, {"auto", false}), definition_of(other, {"auto", false}));
}

SweepStrategy only_strategy(const std::string& json) {
  return parse_sweep(with(R"("single", "dp")", json), "test.json").strategies.front();
}

TEST(Sweep, EveryStrategy_HasItsOwnLaunch) {
  EXPECT_EQ(only_strategy("\"dp-allreduce\"").launch, "threads");
  EXPECT_EQ(only_strategy("\"ddp-replicate\"").launch, "processes");
  EXPECT_NE(refusal_of(with("\"dp\"", R"({"strategy": "dp-allreduce", "launch": "processes"})"))
                .find("'dp-allreduce' is one process"),
            std::string::npos);
}

TEST(Sweep, InterpreterLock_IsSwitchedByAValue) {
  const SweepStrategy strategy = only_strategy(
      R"({"strategy": "dp", "options": {"dispatch-cost": "8us", "interpreter-lock": true}})");
  EXPECT_EQ(strategy.options.at("interpreter-lock"), "on");
  EXPECT_EQ(strategy.options.at("dispatch-cost"), "8us");
}

TEST(Sweep, UnknownNames_ComeWithTheNearestKnownOne) {
  EXPECT_NE(refusal_of(with("\"devices\"", "\"device\"")).find("did you mean 'devices'?"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("bucket-mb", "bukcet-mb")).find("did you mean 'bucket-mb'?"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("\"dp\"", "\"pd\"")).find("did you mean 'dp'?"), std::string::npos);
}

// A sweep of one model with these further keys.
Sweep sweep_with(const std::string& keys, int all = 0) {
  return parse_sweep(R"({"name": "t", "strategies": ["dp", "ddp"], )" + keys + "}", "t.json",
                     {.all = all});
}

constexpr const char* kOneCell = R"("workloads": [{"model": "m", "batch": 8}], "devices": 2)";

TEST(Sweep, Axes_VaryTheStrategiesThatHaveThem) {
  const Sweep sweep = sweep_with(
      std::string(kOneCell) + R"(, "axes": {"bucket-mb": [null, 1, "all"], "p2p": ["on", false]})");
  ASSERT_EQ(sweep.strategies.size(), 2U + 6U);
  EXPECT_EQ(sweep.strategies[0].strategy, "dp");
  EXPECT_EQ(sweep.strategies[0].options, (std::map<std::string, std::string>{{"p2p", "on"}}));
  EXPECT_EQ(sweep.strategies[2].options.count("bucket-mb"), 0U);
  EXPECT_EQ(sweep.strategies[7].options.at("bucket-mb"), "all");
  EXPECT_EQ(sweep.strategies[7].options.at("p2p"), "off");
  ASSERT_EQ(sweep.left_out.size(), 1U);
  EXPECT_EQ(sweep.left_out[0], "dp is not varied in bucket-mb: an option of ddp and dp-allreduce");
  EXPECT_THROW((void)sweep_with(std::string(kOneCell) + R"(, "axes": {"batch": [1]})"), Error);
  EXPECT_THROW((void)sweep_with(std::string(kOneCell) + R"(, "axes": {"grads": []})"), Error);
  EXPECT_THROW((void)sweep_with(std::string(kOneCell) + R"(, "axes": {"precision": ["bf16"]})"),
               Error);
}

TEST(Sweep, Devices_AboveTheMostAreLeftOut) {
  const auto counts_up_to = [](int most) {
    return parse_sweep(R"({"name": "t", "strategies": ["dp"], "devices": [2, 4, 8],
                          "workloads": [{"model": "m", "batch": 8}]})",
                       "t.json", {.all = most, .most = most});
  };
  EXPECT_EQ(counts_up_to(4).devices, (std::vector<int>{2, 4}));
  ASSERT_EQ(counts_up_to(4).left_out.size(), 1U);
  EXPECT_EQ(counts_up_to(4).left_out[0], "8 devices are left out: --devices=4");
  EXPECT_EQ(counts_up_to(16).left_out[0], "--devices=16: the sweep names no more than 8");
  EXPECT_TRUE(counts_up_to(8).left_out.empty());
  EXPECT_THROW((void)counts_up_to(1), Error);
}

TEST(Sweep, Devices_HaveNames) {
  const std::string rest = R"("workloads": [{"model": "m", "batch": 8}], "devices": )";
  EXPECT_EQ(sweep_with(rest + R"("all")", 6).devices, std::vector<int>{6});
  EXPECT_EQ(sweep_with(rest + R"("1..all")", 3).devices, (std::vector{1, 2, 3}));
  EXPECT_EQ(sweep_with(rest + R"("doubling")", 6).devices, (std::vector{1, 2, 4, 6}));
  EXPECT_EQ(sweep_with(rest + R"([1, "all"])", 1).devices, std::vector<int>{1});
  EXPECT_THROW((void)sweep_with(rest + R"("all")"), Error);
  EXPECT_THROW((void)sweep_with(rest + R"("every")", 2), Error);
}

TEST(Sweep, BatchPerDevice_IsAnotherKindOfBatch) {
  const Sweep sweep =
      sweep_with(R"("devices": [2], "workloads": [{"model": ["a", "b"], "batch_per_device": 4}])");
  ASSERT_EQ(sweep.workloads.size(), 2U);
  EXPECT_TRUE(sweep.workloads[0].is_per_device);
  EXPECT_EQ(sweep.model_series, (std::vector<std::vector<std::string>>{{"a", "b"}}));
  for (const char* batches : {R"("batch": 1, "batch_per_device": 1)", R"("precision": "bf16")"}) {
    EXPECT_THROW((void)sweep_with(R"("devices": 2, "workloads": [{"model": "a", )" +
                                  std::string(batches) + "}]"),
                 Error);
  }
}

TEST(Sweep, Constraints_DropWhatMeetsAllOfTheirConditions) {
  const Sweep sweep = sweep_with(
      std::string(kOneCell) +
      R"(, "constraints": [{"drop": {"strategy": ["ddp", "single"], "devices": {"above": 2}}, "reason": "r"}])");
  ASSERT_EQ(sweep.constraints.size(), 1U);
  results::Cell cell{.strategy = "ddp",
                     .launch = "processes",
                     .model = "m",
                     .backend = "host",
                     .devices = 3,
                     .global_batch = 9,
                     .options = {}};
  EXPECT_TRUE(holds(sweep.constraints[0], cell));
  cell.devices = 2;
  EXPECT_FALSE(holds(sweep.constraints[0], cell));
  cell.devices = 3;
  cell.strategy = "dp";
  EXPECT_FALSE(holds(sweep.constraints[0], cell));
  for (const char* wrong :
       {R"({"drop": {}, "reason": "r"})", R"({"drop": {"device": 1}, "reason": "r"})",
        R"({"drop": {"devices": {}}, "reason": "r"})", R"({"drop": {"devices": 1}})"}) {
    EXPECT_THROW((void)sweep_with(std::string(kOneCell) + ", \"constraints\": [" + wrong + "]"),
                 Error)
        << wrong;
  }
}

// `tandem explain` reads it back as a sweep.
TEST(Sweep, Definition_IsASweepOfTheSameCells) {
  const Sweep sweep = sweep_with(
      R"("workloads": [{"model": "m", "batch_per_device": 8}], "devices": "doubling", "axes": {"p2p": [null, "off"]},
         "constraints": [{"drop": {"p2p": "off", "devices": {"below": 2}}, "reason": "r"}])",
      4);
  std::string definition = definition_of(sweep, {"auto", false});
  definition.resize(definition.find(",\"backend\""));
  // Constraints follow the place.
  const std::string whole = definition_of(sweep, {"auto", false});
  definition += whole.substr(whole.find(",\"constraints\""));
  const Sweep again = parse_sweep(definition, "definition");
  EXPECT_EQ(definition_of(again, {"auto", false}), whole);
}

class SweepOfAFile : public testing::Test {
 public:
  SweepOfAFile() { std::ofstream(folder_ / "sweep.json") << with("\"mlp-base\"", "\"own.json\""); }

 protected:
  [[nodiscard]] Sweep load() const { return load_sweep((folder_ / "sweep.json").string(), {}); }
  const test::ScratchFolder folder_;
};

TEST_F(SweepOfAFile, Workload_LiesBesideIt_AndIsNamedWithItsChecksum) {
  std::ofstream(folder_ / "own.json") << "{}";
  const Sweep sweep = load();
  const std::string first = sweep.workloads.back().model;
  EXPECT_TRUE(first.starts_with("own.json#")) << first;
  EXPECT_EQ(sweep.model_files, (ModelFiles{{first, (folder_ / first).string()}}));
  std::ofstream(folder_ / "own.json") << "[]";
  EXPECT_NE(load().workloads.back().model, first) << "another file, another cell";
}

TEST_F(SweepOfAFile, SameFileInAnotherFolder_IsTheSameDefinition) {
  const auto definition_in = [&](const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "own.json") << "{}";
    std::ofstream(folder / "sweep.json") << with("\"mlp-base\"", "\"own.json\"");
    return definition_of(load_sweep((folder / "sweep.json").string(), {}), {"auto", false});
  };
  EXPECT_EQ(definition_in(folder_.path()), definition_in(folder_ / "elsewhere"));
}

TEST_F(SweepOfAFile, SeriesAndConstraints_NameItAsItsCellsDo) {
  std::ofstream(folder_ / "own.json") << "{}";
  std::ofstream(folder_ / "sweep.json") << R"({"name": "t", "devices": 1, "strategies": ["dp"],
      "workloads": [{"model": ["mlp-base", "own.json"], "batch": 1}],
      "constraints": [{"drop": {"model": "own.json"}, "reason": "r"}]})";
  const Sweep sweep = load();
  const std::string model = sweep.workloads.back().model;
  EXPECT_EQ(sweep.model_series.at(0).back(), model);
  EXPECT_EQ(sweep.constraints.at(0).when.at(0).any_of, std::vector<std::string>{model});
}

TEST_F(SweepOfAFile, WorkloadThatIsNotThere_IsSaidBeforeAnythingRuns) {
  const Error error = test::error_of([&] { static_cast<void>(load()); });
  EXPECT_EQ(error.exit_code(), 2);
  EXPECT_NE(std::string(error.what()).find("own.json"), std::string::npos);
}

}  // namespace
}  // namespace tandem::cli
