// SPDX-License-Identifier: Apache-2.0
#include "common/options/rules.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/support/errors.h"

namespace tandem::options {
namespace {

struct Given {
  Name name;
  const char* text;
};

Values values_of(const char* strategy, std::initializer_list<Given> all) {
  Values values;
  values.give("strategy", strategy);
  values.give("devices", std::string_view(strategy) == "single" ? "1" : "2");
  values.give("batch", "8");
  for (const Given& given : all) values.give(given.name, given.text);
  return values;
}

std::string refusal_of(const char* strategy, std::initializer_list<Given> all) {
  const auto error = capture_error([&] { check(values_of(strategy, all)); });
  return error ? error->what() : "";
}

TEST(Rules, EveryStrategy_TakesItsOwnOptionsAndRefusesTheOthers) {
  for (const StrategyTraits& traits : kStrategies) {
    for (const Option& option : kOptions) {
      if (option.of.strategies.empty()) continue;
      const std::string refusal = refusal_of(traits.name.data(), {{option, option.example.data()}});
      const bool is_foreign = refusal.find("is an option of") != std::string::npos &&
                              refusal.find("and does nothing here") != std::string::npos;
      EXPECT_EQ(has_option(traits.name, option), !is_foreign) << option.name << ": " << refusal;
    }
  }
}

// A sweep varies p2p in those that copy between GPUs; step_bench takes it everywhere.
TEST(Rules, ASweepVariesP2p_WhereDevicesCopy) {
  for (const StrategyTraits& traits : kStrategies) {
    EXPECT_TRUE(has_option(traits.name, "p2p"));
    EXPECT_EQ(is_varied_in(traits.name, "p2p"), traits.algorithm != Algorithm::kNone);
    EXPECT_EQ(is_varied_in(traits.name, "grads"), has_option(traits.name, "grads"));
  }
  EXPECT_EQ(varied_in_words("grads"), "ddp and dp-allreduce");
  EXPECT_EQ(varied_in_words("seed"), "every strategy");
}

TEST(Rules, OptionsThatDoNotGoTogether_AreRefused) {
  EXPECT_EQ(refusal_of("single", {{"pairs", "40"}}),
            "--pairs is an option of step_bench pair and does nothing for time: leave it out");
  EXPECT_EQ(refusal_of("single", {{"run", "pair"}}),
            "--ab is missing: give the change, such as --ab=grads=views");
  EXPECT_EQ(refusal_of("ddp", {{"run", "trace"}}), "--file is missing: give the file to write");
  EXPECT_EQ(refusal_of("single", {{"conv-fp32", "on"}, {"precision", "bf16"}}),
            "--conv-fp32 applies to fp32, and the precision is another: leave it out");
  EXPECT_EQ(refusal_of("single", {{"channels-last", "on"}, {"backend", "host"}}),
            "--channels-last applies to GPUs, and the back end is host: leave it out");
}

TEST(Rules, ASimulation_TakesItsMachineFromAFile_AndMeasuresNothing) {
  const auto simulated = [](const char* strategy, const Given& more = {"seed", "1"}) {
    return refusal_of(strategy, {{"backend", "simulated"}, {"hardware", "own.json"}, more});
  };
  EXPECT_EQ(refusal_of("dp", {{"hardware", "own.json"}}),
            "--hardware does nothing without --backend=simulated: leave it out");
  EXPECT_EQ(refusal_of("dp", {{"backend", "simulated"}}),
            "--backend=simulated: which machine? give its name or the file that describes it, "
            "with --hardware, or the file of a measured one, with --calibration");
  EXPECT_EQ(refusal_of("dp", {{"backend", "simulated"}, {"calibration", "own.json"}}), "");
  EXPECT_EQ(refusal_of("dp", {{"calibration", "own.json"}}),
            "--calibration does nothing without --backend=simulated: leave it out");
  EXPECT_EQ(simulated("dp", {"single-step", "36ms"}), "");
  EXPECT_EQ(
      refusal_of("dp",
                 {{"backend", "simulated"}, {"calibration", "own.json"}, {"single-step", "36ms"}}),
      "--single-step scales the operations of a described machine: give --hardware");
  EXPECT_EQ(
      refusal_of("dp", {{"backend", "simulated"}, {"hardware", "own.json"}, {"run", "verify"}}),
      "step_bench verify looks at numbers, and --backend=simulated computes none: leave it "
      "out");
  for (const StrategyTraits& strategy : kStrategies) {
    EXPECT_EQ(simulated(std::string(strategy.name).c_str()), "") << strategy.name;
  }
  EXPECT_EQ(simulated("dp", {"profile-steps", "3"}),
            "--profile-steps measures, and --backend=simulated measures nothing: leave it out");
  EXPECT_EQ(simulated("dp", {"input", "pageable"}), "");
  EXPECT_EQ(simulated("ddp", {"comm", "mpi"}),
            "--comm applies to a machine that is there, and --backend=simulated uses the one that "
            "--hardware describes: leave it out");
}

TEST(Rules, ACalibration_TimesSingleAsItIs) {
  const auto calibrated = [](const Given& more) {
    Values values;
    values.give("batch", "8");
    values.give("run", "calibrate");
    values.give("file", "own.json");
    values.give(more.name, more.text);
    const auto error = capture_error([&] { check(values); });
    return std::string(error ? error->what() : "");
  };
  EXPECT_EQ(calibrated({"batches", "8,32"}), "");
  for (const Given& other : {Given{"strategy", "dp"}, Given{"input", "device"},
                             Given{"channels-last", "on"}, Given{"record", "r.json"}}) {
    EXPECT_NE(calibrated(other).find("and does nothing for calibrate: leave it out"),
              std::string::npos)
        << other.name->name;
  }
}

TEST(Rules, ALaunch_IsTheStrategys) {
  EXPECT_EQ(refusal_of("dp", {{"launch", "processes"}}),
            "--launch=processes: dp runs as threads; only independent runs as both");
  EXPECT_EQ(refusal_of("ddp", {{"launch", "threads"}}),
            "--launch=threads: ddp runs as processes; only independent runs as both");
  EXPECT_EQ(refusal_of("independent", {{"launch", "processes"}}), "");
  EXPECT_EQ(refusal_of("single", {{"devices", "2"}}),
            "--devices=2: single is one device; use another strategy");
}

TEST(Rules, ABatch_IsGivenInOneWay) {
  EXPECT_EQ(global_batch(values_of("dp", {})), 8);
  Values values;
  values.give("devices", "3");
  values.give("batch-per-device", "4");
  EXPECT_EQ(global_batch(values), 12);
  values.give("batch", "12");
  EXPECT_THROW(static_cast<void>(global_batch(values)), Error);
}

TEST(Rules, TheOtherSideOfAPair_HasOneOptionChanged) {
  const Values changed = with_change(values_of("ddp", {{"ab", "grads=views"}}));
  EXPECT_EQ(changed.text("grads"), "views");
  const auto refused = [](const char* strategy, const char* ab) {
    return std::string(test::error_of([&] {
                         static_cast<void>(with_change(values_of(strategy, {{"ab", ab}})));
                       }).what());
  };
  EXPECT_EQ(refused("ddp", "grads=copy"), "--ab=grads=copy: that is the value without it");
  EXPECT_EQ(
      refused("dp", "grads=views"),
      "--ab=grads=views: --grads is an option of ddp and dp-allreduce and does nothing for dp");
  EXPECT_NE(refused("ddp", "strategy=dp").find("are launched differently"), std::string::npos);
  EXPECT_NE(refused("ddp", "devices=1").find("'devices' cannot change within a process"),
            std::string::npos);
}

}  // namespace
}  // namespace tandem::options
