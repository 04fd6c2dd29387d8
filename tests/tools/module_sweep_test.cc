// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/module_sweep.h"

#include <gtest/gtest.h>

#include "common/base/error.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/sweep/torch_options.h"

namespace tandem::cli {
namespace {

constexpr const char* kName = "own.py:build#0123456789abcdef";

std::string message_of(const auto& action) {
  const auto error = capture_error(action);
  if (!error) return "";
  EXPECT_EQ(error->exit_code(), 2);
  return error->what();
}

void expect_says(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

Sweep sweep_of(const std::vector<std::string>& cells = {}, int devices = 2) {
  return module_sweep({.source = "own.py:build", .batch_per_device = "8,32", .cells = cells},
                      devices);
}

PlannedCells planned_of(Sweep sweep, const ModuleFacts& facts, bool is_host = true) {
  const auto ask = [&](const std::string&, std::int64_t) { return facts; };
  const std::vector<ModuleFacts> modules = name_modules(sweep, "/models", ask);
  PlannedCells planned = plan_cells(sweep, is_host ? "host" : "cuda");
  make_torch_cells(planned, "torch-9.9.9", is_host, modules);
  return planned;
}

std::vector<std::string> names_of(const PlannedCells& planned) {
  std::vector<std::string> names;
  for (const results::Cell& cell : planned.cells) names.push_back(cell.name());
  return names;
}

TEST(ModuleSweep, HasTorchsStrategies_AtDoublingDevices_WithEachBatch) {
  const Sweep sweep = sweep_of({}, 6);
  EXPECT_EQ(sweep.name, "own");
  EXPECT_EQ(sweep.devices, (std::vector{1, 2, 4, 6}));
  ASSERT_EQ(sweep.workloads.size(), 2U);
  EXPECT_EQ(sweep.workloads[1].batch, 32);
  EXPECT_TRUE(sweep.workloads[1].is_per_device);
  ASSERT_EQ(sweep.strategies.size(), 4U);
  EXPECT_EQ(sweep.strategies[1].strategy, "independent");
  EXPECT_EQ(sweep.strategies[1].launch, "processes");
  EXPECT_EQ(sweep.strategies[2].launch, "threads");
}

constexpr const char* kOfModels = R"({"name": "node", "backend": "cuda", "budget": "10m",
  "workloads": [{"model": "mlp-base", "batch_per_device": 256, "precision": "bf16"}],
  "devices": "doubling", "launches": 3, "min_time": "400ms",
  "strategies": ["single", {"strategy": "independent", "launch": "threads"}, "dp", "ddp",
                 "dp-allreduce", {"strategy": "ddp", "options": {"free-running": 10}}],
  "constraints": [{"drop": {"strategy": "single", "batch": {"above": 64}}, "reason": "no room"}]})";

TEST(ModuleSweep, InPlaceOfASweepsModels_KeepsWhatTorchHasOfIt) {
  const Sweep sweep = with_module(
      parse_sweep(kOfModels, "node.json", {.all = 8}),
      {.source = "a/own.py:build", .batch_per_device = "8,32", .cells = {"ddp grads=views"}});
  EXPECT_EQ(sweep.name, "own-node");
  EXPECT_EQ(sweep.backend, "cuda");
  EXPECT_EQ(sweep.budget, "10m");
  EXPECT_EQ(sweep.launches, 3);
  EXPECT_EQ(sweep.min_time, "400ms");
  EXPECT_EQ(sweep.devices, (std::vector{1, 2, 4, 8}));
  EXPECT_TRUE(sweep.is_of_modules);
  ASSERT_EQ(sweep.workloads.size(), 2U);
  EXPECT_EQ(sweep.workloads[1].model, "a/own.py:build");
  EXPECT_EQ(sweep.workloads[1].precision, "fp32");
  std::vector<std::string> strategies;
  for (const SweepStrategy& strategy : sweep.strategies) strategies.push_back(strategy.strategy);
  EXPECT_EQ(strategies, (std::vector<std::string>{"single", "dp", "ddp", "ddp"}));
  EXPECT_EQ(sweep.strategies.back().options.at("grads"), "views");
  const PlannedCells planned = planned_of(sweep, {.name = kName, .unused = ""}, false);
  // Single has 6 batches; dp and both kinds of ddp have 2 batches a device on 4 counts.
  EXPECT_EQ(planned.cells.size(), 6U + 2 * 4 * 3);
}

TEST(ModuleSweep, InPlaceOfASweepsModels_IsRefusedWhereNothingIsLeft) {
  Sweep of_modules = sweep_of();
  const ModuleOptions own{.source = "own.py:build", .batch = "8"};
  expect_says(message_of([&] { (void)with_module(of_modules, own); }), "has modules of its own");
  Sweep of_threads = parse_sweep(kOfModels, "node.json", {.all = 2});
  of_threads.strategies = {{.strategy = "dp-allreduce", .launch = "threads", .options = {}}};
  expect_says(message_of([&] { (void)with_module(of_threads, own); }), "PyTorch has no strategy");
}

TEST(ModuleSweep, JunkInBatches_IsNamed) {
  for (const char* junk : {"8,x", "0", "-3", "8,,9", "1.5", "8 9", "99999999999999"}) {
    const auto ask = [&] {
      (void)module_sweep({.source = "own.py:build", .batch_per_device = junk}, 2);
    };
    expect_says(message_of(ask), std::string("--batch-per-device=") + junk + ": use whole numbers");
  }
  const auto neither = [] { (void)module_sweep({.source = "own.py:build"}, 2); };
  expect_says(message_of(neither), "give one of --batch-per-device and --batch");
  const auto unknown = [] { (void)sweep_of({}, 0); };
  expect_says(message_of(unknown), "say --devices=N");
}

TEST(TorchStrategies, OfACell_HaveItsOptions) {
  const auto one = torch_strategies_of("ddp  grads=views bucket-mb=10");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].launch, "processes");
  EXPECT_EQ(one[0].options,
            (std::map<std::string, std::string>{{"grads", "views"}, {"bucket-mb", "10"}}));
  EXPECT_EQ(torch_strategies_of("read-loss=on").size(), 4U);
  EXPECT_EQ(torch_strategies_of("grads=views").size(), 1U);
  EXPECT_EQ(torch_strategies_of("zero1 grads=views").front().launch, "processes");
  EXPECT_EQ(torch_strategies_of("fsdp reshard=off accumulate=2").front().launch, "processes");
}

TEST(TorchStrategies, WrongWords_AreNamedWithWhatToUse) {
  const std::pair<const char*, const char*> cases[] = {
      {" ", "it is empty"},
      {"zero", "torch has no strategy 'zero'; use single"},
      {"fsdp compress=fp16",
       "--compress is an option of torch's ddp, zero1, and the strategy is fsdp"},
      {"zero1 reshard=on", "--reshard is an option of torch's fsdp, and the strategy is zero1"},
      {"ddp views", "'views' is no OPTION=VALUE"},
      {"ddp gradz=views", "did you mean 'grads'?"},
      {"ddp grads=viewz", "'viewz' is not known: use one of copy, views"},
      {"ddp bucket-mb=all", "'all' is no whole number from 1"},
      {"single grads=views", "an option of torch's ddp, zero1, and the strategy is single"},
      {"overlap=off", "option 'overlap' is none of torch's"}};
  for (const auto& [words, says] : cases) {
    expect_says(message_of([&] { (void)torch_strategies_of(words); }), says);
  }
}

TEST(TorchOptions, HaveADefaultAmongTheirValues_AndWords) {
  for (const TorchOption& option : torch_options()) {
    EXPECT_FALSE(option.name.empty());
    EXPECT_FALSE(option.help.empty()) << option.name;
    const std::string owner(option.of.substr(0, option.of.find('|')));
    const std::string strategy = owner.empty() ? "single" : owner;
    const std::string usual(option.values.substr(0, option.values.find('|')));
    if (usual.empty()) continue;
    EXPECT_EQ(torch_option_mistake(strategy, option.name, usual), "");
  }
}

TEST(NameModules, GivesCellsTheChecksummedName_AndLaunchesThePath) {
  Sweep sweep = sweep_of();
  std::vector<std::pair<std::string, std::int64_t>> asked;
  const auto ask = [&](const std::string& source, std::int64_t share) {
    asked.emplace_back(source, share);
    return ModuleFacts{.name = kName, .unused = "", .has_optimizer = false};
  };
  EXPECT_EQ(name_modules(sweep, "/models", ask).size(), 1U);
  ASSERT_EQ(asked.size(), 1U);  // once for both batches, with the smaller one
  EXPECT_EQ(asked[0], std::pair(std::string("/models/own.py:build"), std::int64_t{8}));
  EXPECT_EQ(sweep.workloads[0].model, kName);
  EXPECT_EQ(sweep.modules.at(kName), "/models/own.py:build");
  EXPECT_EQ(absolute_source("package.part:build", "/models"), "package.part:build");
}

TEST(MakeTorchCells, DropDataParallelOnCpus_AndKeepItOnGpus) {
  const ModuleFacts facts{.name = kName, .unused = "", .has_optimizer = false};
  const PlannedCells host = planned_of(sweep_of(), facts);
  for (const results::Cell& cell : host.cells) EXPECT_NE(cell.strategy, "dp");
  EXPECT_NE(host.dropped.back().reason.find("between GPUs"), std::string::npos);
  const std::vector<std::string> gpus = names_of(planned_of(sweep_of(), facts, false));
  EXPECT_NE(std::ranges::find(gpus, std::string("dp/threads/") + kName +
                                        "/devices:2/batch:16/implementation:torch-9.9.9"),
            gpus.end());
}

TEST(MakeTorchCells, DdpLooksForAParameterWithoutGradient_InOneCell) {
  const ModuleFacts facts{.name = kName, .unused = "head.weight", .has_optimizer = false};
  const PlannedCells planned = planned_of(sweep_of({"ddp find-unused-parameters=on"}), facts);
  EXPECT_EQ(names_of(planned), names_of(planned_of(sweep_of(), facts)));
  for (const results::Cell& cell : planned.cells) {
    EXPECT_EQ(cell.strategy == "ddp", cell.options.contains("find-unused-parameters"));
  }
}

TEST(MakeTorchCells, WhatDoesNotGoTogether_IsSaid) {
  const ModuleFacts own{.name = kName, .unused = "", .has_optimizer = true};
  expect_says(message_of([&] { (void)planned_of(sweep_of({"optimizer=adam"}), own); }),
              "returns an optimizer of its own: --optimizer");
  const ModuleFacts none{.name = kName, .unused = "", .has_optimizer = false};
  const PlannedCells planned =
      planned_of(sweep_of({"ddp accumulate=9", "ddp accumulate=2 static-graph=on"}), none);
  std::string reasons;
  for (const DroppedCell& dropped : planned.dropped) reasons += dropped.reason + "\n";
  expect_says(reasons, "a share of 8 samples cannot be cut into 9 equal micro-batches");
  expect_says(reasons, "torch's static graph needs a first backward");
}

TEST(LaunchCommand, OfAModule_NamesTheFunction) {
  LaunchSettings settings{.step_bench = "step_bench", .min_time = "10ms"};
  settings.torch = TorchTwin{.python = "python", .script = "twin", .name = "torch-9.9.9"};
  settings.torch->environment = {"LD_PRELOAD=/some/library.so"};
  settings.modules[kName] = "/models/own.py:build";
  const ModuleFacts facts{.name = kName, .unused = "", .has_optimizer = false};
  const results::Cell cell = planned_of(sweep_of(), facts).cells.front();
  const auto words = launch_command(cell, settings, "record.json");
  EXPECT_NE(std::ranges::find(words, "--module=/models/own.py:build"), words.end());
  EXPECT_NE(std::ranges::find(words, std::string("--model=") + kName), words.end());
  const auto variables = launch_environment(cell, settings);
  EXPECT_NE(std::ranges::find(variables, "LD_PRELOAD=/some/library.so"), variables.end());
}

constexpr const char* kFile = R"({
  "name": "own",
  "workloads": [{"module": "own.py:build", "batch_per_device": 8}],
  "devices": [2],
  "strategies": ["single", "independent", {"strategy": "ddp", "options": {"compress": "fp16"}}],
  "axes": {"broadcast-buffers": [null, false]}
})";

TEST(Sweep, OfModules_HasTorchsStrategiesAndOptions) {
  const Sweep sweep = parse_sweep(kFile, "test.json");
  EXPECT_TRUE(sweep.is_of_modules);
  ASSERT_EQ(sweep.strategies.size(), 4U);
  EXPECT_EQ(sweep.strategies[1].launch, "processes");
  EXPECT_EQ(sweep.strategies[3].options.at("broadcast-buffers"), "off");
}

TEST(Sweep, OfModules_RefusesWhatTorchLacks) {
  const std::pair<const char*, std::pair<const char*, const char*>> cases[] = {
      {"\"single\"", {"\"dp-allreduce\"", "torch has no strategy 'dp-allreduce'"}},
      {"\"fp16\"", {"\"powersgd:4\"", "use one of none, fp16, bf16"}},
      {"[null, false]", {"[\"maybe\"]", "use one of on, off"}},
      {"broadcast-buffers", {"overlap", "none of torch's"}},
      {"\"batch_per_device\": 8", {"\"batch\": 8, \"model\": \"mlp-tiny\"", "one of 'model' and"}},
      {"8}]", {"8}, {\"model\": \"mlp-tiny\", \"batch\": 8}]", "use two sweeps"}}};
  for (const auto& [part, change] : cases) {
    std::string text = kFile;
    text.replace(text.find(part), std::string(part).size(), change.first);
    expect_says(message_of([&] { (void)parse_sweep(text, "test.json"); }), change.second);
  }
}

}  // namespace
}  // namespace tandem::cli
